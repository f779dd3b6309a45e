import type { Expr } from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import type { WgslPiece } from '@tilewise/philox/wgsl';
import { isNegativeInfinity, lowest } from '../../codegen/formats/float-bits.ts';
import { statements } from '../../codegen/text.ts';
import type { ScoreStageFactory } from '../score/stage.ts';
import { captureBits, captureLoad } from './captures.ts';

/** The parameters of functions of a score and its position. */
export const positionParameters = 'score: f32, b: i32, h: i32, q: i32, kv: i32';

/** The arguments for key j + c of query i, after the score. */
export const positionArguments = 'i32(seq.b), i32(h), i32(i), i32(j + c)';

/** A WGSL function of a score and its position, see `positionArguments`. */
export function exprFunction(tools: ExprTools, name: string, type: string, expr: Expr): string {
  const { statements, value } = tools.writeWgsl(expr, {
    variables: { score: 'score', b: 'b', h: 'h', q: 'q', kv: 'kv' },
    load: (capture, index) => `${captureLoad(capture)}(${index.join(', ')})`,
    bits: (capture, index) => `${captureBits(capture)}(${index.join(', ')})`,
  });
  return `fn ${name}(${positionParameters}) -> ${type} {
  ${statements}
  return ${value};
}`;
}

/** The functions that expressions call. */
const exprPieces = ({ functionsWgsl }: ExprTools): WgslPiece[] => [{ code: functionsWgsl }];

/** An expression for whether another expression is −∞, computed from the other's operands. */
const isMasked = (expr: Expr): Expr => ({
  kind: 'binary',
  type: 'bool',
  op: 'eq',
  a: expr,
  b: { kind: 'constant', type: 'f32', value: '-Infinity' },
});

/**
 * s ← mod(s, position). A score of −∞ hides its key unless the problem has a softcap, which bounds the score.
 * So does a score below the range of f32, which is recognised by its bits.
 */
export const scoreModStage =
  (tools: ExprTools): ScoreStageFactory =>
  ({ scoreMod, softcap }, { slope }) => {
    if (!scoreMod) return null;
    const masks = softcap === null;
    const slopes = {
      none: '',
      'by q·k': `slope[c] *= score_mod_slope(unmodified[c], ${positionArguments});`,
      'by the modified score': 'slope[c] = 1.0;',
    };
    return {
      requires: [...exprPieces(tools), isNegativeInfinity],
      code: [
        exprFunction(tools, 'score_mod', 'f32', scoreMod),
        exprFunction(tools, 'score_mod_masks', 'bool', isMasked(scoreMod)),
        ...(slope === 'by q·k'
          ? [exprFunction(tools, 'score_mod_slope', 'f32', tools.differentiate(scoreMod))]
          : []),
      ].join('\n\n'),
      apply: `let unmodified = s;
  for (var c = 0u; c < 4u; c++) {
    ${statements(
      `s[c] = score_mod(unmodified[c], ${positionArguments});`,
      slopes[slope],
      `let masked = score_mod_masks(unmodified[c], ${positionArguments});`,
      masks
        ? 'visible[c] = visible[c] && !(masked || is_negative_infinity(s[c]));'
        : `s[c] = select(s[c], ${lowest}, masked);`,
    )}
  }`,
      masks,
    };
  };

/** Hides the keys for which the mask mod is false. */
export const maskModStage =
  (tools: ExprTools): ScoreStageFactory =>
  ({ maskMod }) => {
    if (!maskMod) return null;
    return {
      requires: exprPieces(tools),
      code: exprFunction(tools, 'mask_mod', 'bool', maskMod),
      apply: `for (var c = 0u; c < 4u; c++) {
    visible[c] = visible[c] && mask_mod(0.0, ${positionArguments});
  }`,
      masks: true,
    };
  };
