import type { Expr } from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import type { WgslPiece } from '@tilewise/philox/wgsl';
import { captureLoad } from './captures.ts';
import type { ScoreStageFactory } from './stage.ts';

/** The parameters of functions of a score and its place. */
export const placeParameters = 'score: f32, b: i32, h: i32, q: i32, kv: i32';

/** The arguments for key j + c of query i, after the score. */
export const placeArguments = 'i32(seq.b), i32(h), i32(i), i32(j + c)';

/** A WGSL function of a score and its place, see `placeArguments`. */
export function exprFunction(tools: ExprTools, name: string, type: string, expr: Expr): string {
  const { statements, value } = tools.writeWgsl(expr, {
    variables: { score: 'score', b: 'b', h: 'h', q: 'q', kv: 'kv' },
    load: (capture, index) => `${captureLoad(capture)}(${index.join(', ')})`,
  });
  return `fn ${name}(${placeParameters}) -> ${type} {
  ${[...statements.split('\n').filter(Boolean), `return ${value};`].join('\n  ')}
}`;
}

/** The functions that expressions call. */
export const exprPieces = ({ functionsWgsl }: ExprTools): WgslPiece[] => [{ code: functionsWgsl }];

/** s ← mod(s, place). A score of −∞, which WGSL spells as the least finite number, hides its key unless a softcap bounds it. */
export const scoreModStage: ScoreStageFactory = ({ scoreMod, softcap }, { tools, slope }) => {
  if (!scoreMod || !tools) return null;
  const hides = softcap === null;
  const slopes = {
    none: '',
    'by q·k': `slope[c] *= score_mod_slope(unmodified[c], ${placeArguments});`,
    'by the modified score': 'slope[c] = 1.0;',
  };
  return {
    requires: exprPieces(tools),
    code: [
      exprFunction(tools, 'score_mod', 'f32', scoreMod),
      ...(slope === 'by q·k'
        ? [exprFunction(tools, 'score_mod_slope', 'f32', tools.differentiate(scoreMod))]
        : []),
    ].join('\n\n'),
    apply: `let unmodified = s;
  for (var c = 0u; c < 4u; c++) {
    s[c] = score_mod(unmodified[c], ${placeArguments});
    ${slopes[slope]}
    ${hides ? 'seen[c] = seen[c] && !(s[c] <= -0x1.fffffep+127f);' : ''}
  }`,
    hides,
  };
};

/** Hides the keys for which the mask mod does not hold. */
export const maskModStage: ScoreStageFactory = ({ maskMod }, { tools }) => {
  if (!maskMod || !tools) return null;
  return {
    requires: exprPieces(tools),
    code: exprFunction(tools, 'mask_mod', 'bool', maskMod),
    apply: `for (var c = 0u; c < 4u; c++) {
    seen[c] = seen[c] && mask_mod(0.0, ${placeArguments});
  }`,
    hides: true,
  };
};
