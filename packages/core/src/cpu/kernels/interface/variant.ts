/** The makes of the kernels, from the fastest on. */
export const variants = ['wasm-relaxed-simd', 'wasm-simd', 'typescript'] as const;
/** One of the variants of the kernels: with relaxed SIMD, with SIMD, or in TypeScript. */
export type Variant = (typeof variants)[number];

/** For people. */
export const variantDescriptions: Readonly<Record<Variant, string>> = {
  'wasm-relaxed-simd': 'WebAssembly with relaxed SIMD',
  'wasm-simd': 'WebAssembly with SIMD',
  typescript: 'TypeScript',
};
