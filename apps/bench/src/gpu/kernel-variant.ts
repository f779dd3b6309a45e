/** A kernel as a plan lists it. */
interface Kernel {
  readonly name: string;
  readonly wgsl: string;
}

/** Describes kernels in a row of results: each with its lanes and with the features that its source uses. */
export function kernelVariants(kernels: readonly Kernel[]): string {
  return kernels.map(variantOf).join(', ');
}

function variantOf({ name, wgsl }: Kernel): string {
  const [, size = ''] = /@workgroup_size\(([^)]*)\)/.exec(wgsl) ?? [];
  const lanes = size.split(',').reduce((product, n) => product * Number.parseInt(n, 10), 1);
  const memory = wgsl.includes('var<workgroup>') ? ['workgroup memory'] : [];
  const features = [...wgsl.matchAll(/^enable ([^;]+);/gm)].map(([, feature]) => feature);
  return `${name.replace('attention ', '')} (${[`${lanes} lanes`, ...memory, ...features].join(' + ')})`;
}
