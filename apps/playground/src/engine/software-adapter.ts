/**
 * Whether an adapter is a CPU that emulates a GPU. Not every such driver says so, so known names count, too.
 */
export function isSoftware({ isFallbackAdapter, architecture, description }: GPUAdapterInfo): boolean {
  return (
    isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${architecture} ${description}`)
  );
}
