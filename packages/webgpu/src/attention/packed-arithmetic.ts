import type { ShaderPart } from '../kernel/shader-part.ts';

/**
 * Products of f16 in f16, two to an instruction where a device has such: numbers are added up in f16 for a few steps, and these short sums in
 * f32. What f16 (11 bits, up to 65504; a unit u = 2⁻¹¹) makes of it, for n products to a short sum:
 *
 * - Nothing overflows. A chunk with a q or k of more than 32, or a v of more than 16, NaN and infinity among them, is multiplied in f32, which
 *   one branch decides for the whole workgroup. Else a short sum is at most 32 · 32 · 32, or 16 · 128 · 16, which is 2¹⁵.
 * - A score is that of q and k whose products are each changed by (n + 1)·u at most: by Σ|q·k| · scale · (n + 1)·u, and with the signs of real
 *   data by about √n·u instead. Of normal numbers, with n = 32 and D = 64 or 128, scores are right to 0.008, and o to 0.002 of its largest.
 * - Probabilities are at most 1, or 2 with dropout, and multiplied as 64·P, rounded. o is changed by (n + 2)·u · Σ P|v| / l at most.
 * - A device may flush what is below 2⁻¹⁴. Scores lose D · 2⁻¹⁴ · scale at most, and o 2⁻²⁰ · (1 + max|v|) / l per key.
 *
 * Gradients have no such scale: those of a mean over many tokens are all below 2⁻¹⁴. Backward stays in f32.
 */
export const packedLimits = { qk: 32, v: 16, weight: 2 } as const;

/** Products to a short sum, at most. */
export const packedProducts = { qk: 32, v: 16 } as const;

/** Probabilities are multiplied by it on their way into f16, so that small ones are not lost. */
export const packedWeightScale = 64;

/** Statement that has a chunk that holds `x` multiplied in f32 if that is larger. */
export const watchLimit = (limit: number): string => `if (exceeds(x, ${limit}.0)) {
        atomicStore(&garbage, 1u);
      }`;

/** `exceeds(x, limit)`: whether any component is larger than that, or NaN; told by the bits, as WGSL lets arithmetic assume that none are. */
export const exceedsPart: ShaderPart = {
  code: `fn exceeds(x: vec4f, limit: f32) -> bool {
  return any((bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(bitcast<u32>(limit)));
}`,
};
