import type { BackwardProblem } from '@tilewise/core';
import type { ExprTools } from '@tilewise/core/expr';
import type { CapturedFloats, CaptureTable } from './capture-table.ts';
import { exprFunction, positionParameters } from './score-mods.ts';

/** A load of a captured float in a score mod. */
export interface CapturedLoad {
  readonly capture: CapturedFloats;
  /**
   * WGSL: for load n, `loadN_derivative`, the derivative of the score mod by the element that it loads, and
   * `loadN_element`, the index of this element in the table.
   */
  readonly code: string;
}

/** The loads of a problem's score mod. */
export function capturedLoads(
  { forward: { scoreMod } }: BackwardProblem,
  tools: ExprTools,
  { captures }: CaptureTable,
): CapturedLoad[] {
  if (!scoreMod) return [];
  return captures
    .filter(({ count }) => count > 0)
    .flatMap(capture => tools.loadGradients(scoreMod, capture.name).map(gradient => ({ capture, gradient })))
    .map(({ capture, gradient: { index, partial } }, n) => {
      const { name } = capture;
      const element = index
        .map(
          (_, d) =>
            `  at = at * (u32(P.captured_${name}_last${d}) + 1u) + u32(clamp(load${n}_index${d}(${names}), 0i, P.captured_${name}_last${d}));`,
        )
        .join('\n');
      const code = [
        exprFunction(tools, `load${n}_derivative`, 'f32', partial),
        ...index.map((e, d) => exprFunction(tools, `load${n}_index${d}`, 'i32', e)),
        `fn load${n}_element(${positionParameters}) -> u32 {
  var at = 0u;
${element}
  return P.captured_${name}_table + at;
}`,
      ].join('\n\n');
      return { capture, code };
    });
}

const names = 'score, b, h, q, kv';
