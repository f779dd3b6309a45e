/** The variants of the kernels, from fastest to slowest. */
export const variants = ['wasm-relaxed-simd', 'wasm-simd', 'typescript'] as const;
/** One of the variants of the kernels: with relaxed SIMD, with SIMD, or in TypeScript. */
export type Variant = (typeof variants)[number];

/** Descriptions for humans. */
export const variantDescriptions: Readonly<Record<Variant, string>> = {
  'wasm-relaxed-simd': 'WebAssembly with relaxed SIMD',
  'wasm-simd': 'WebAssembly with SIMD',
  typescript: 'TypeScript',
};
