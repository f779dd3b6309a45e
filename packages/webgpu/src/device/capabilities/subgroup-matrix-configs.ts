import { subgroupMatrixFeature } from '../webgpu-flags.ts';

/**
 * A shape of subgroup matrices: M × K matrices of type `component` times K × N matrices give M × N sums in
 * f32.
 */
export interface SubgroupMatrixConfig {
  /** Rows of the left matrix and of the sums. */
  readonly M: 8 | 16;
  /** Columns of the right matrix and of the sums. */
  readonly N: 8 | 16;
  /** Columns of the left matrix and rows of the right: the number of products in a sum. */
  readonly K: 8 | 16;
  /** The type of the elements of both matrices. The sums are f32. */
  readonly component: 'f16' | 'f32';
}

/**
 * The subgroup matrices that a device multiplies with sums in f32, the largest first, as its adapter reports
 * them. Dawn's binding for Node reports them on the adapter but not on the device; for a device without its
 * adapter, the shapes are found by compiling kernels.
 */
export function subgroupMatrixConfigsOf(
  device: GPUDevice,
  adapter?: GPUAdapter,
): Promise<readonly SubgroupMatrixConfig[]> {
  const found = known.get(device) ?? findMatrices(device, adapter);
  known.set(device, found);
  return found;
}

/** The configurations found, by device, so that all contexts of a device share them. */
const known = new WeakMap<GPUDevice, Promise<readonly SubgroupMatrixConfig[]>>();

async function findMatrices(
  device: GPUDevice,
  adapter?: GPUAdapter,
): Promise<readonly SubgroupMatrixConfig[]> {
  if (!device.features.has(subgroupMatrixFeature)) return [];
  const infos: readonly (MatrixInfo | undefined)[] = [device.adapterInfo, adapter?.info];
  const named = infos.flatMap(info => [...(info?.subgroupMatrixConfigs ?? [])]);
  const shapes = named.length > 0 ? named.flatMap(shapeOf) : await compiledShapes(device);
  const unique = new Map(shapes.map(shape => [JSON.stringify(shape), shape]));
  return [...unique.values()]
    .filter(({ component }) => component === 'f32' || device.features.has('shader-f16'))
    .sort((a, b) => b.M * b.N * b.K - a.M * a.N * a.K);
}

/** A matrix configuration as the adapter reports it. */
interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

type MatrixInfo = GPUAdapterInfo & { readonly subgroupMatrixConfigs?: Iterable<MatrixConfig> };

const shapeOf = ({
  componentType: component,
  resultComponentType,
  M,
  N,
  K,
}: MatrixConfig): SubgroupMatrixConfig[] =>
  resultComponentType === 'f32' && isComponent(component) && isSide(M) && isSide(N) && isSide(K)
    ? [{ M, N, K, component }]
    : [];

const isComponent = (type: string): type is SubgroupMatrixConfig['component'] =>
  type === 'f16' || type === 'f32';
const isSide = (size: number): size is SubgroupMatrixConfig['M'] => size === 8 || size === 16;

/** Shapes that GPUs are known to support: NVIDIA's and AMD's, Intel's, Apple's. */
const knownShapes: readonly SubgroupMatrixConfig[] = [
  { M: 16, N: 16, K: 16, component: 'f16' },
  { M: 16, N: 8, K: 16, component: 'f16' },
  { M: 8, N: 16, K: 16, component: 'f16' },
  { M: 8, N: 8, K: 8, component: 'f16' },
  { M: 8, N: 8, K: 8, component: 'f32' },
];

async function compiledShapes(device: GPUDevice): Promise<SubgroupMatrixConfig[]> {
  const able = await Promise.all(knownShapes.map(shape => multiplies(device, shape)));
  return knownShapes.filter((_, n) => able[n]);
}

async function multiplies(device: GPUDevice, { M, N, K, component }: SubgroupMatrixConfig): Promise<boolean> {
  if (component === 'f16' && !device.features.has('shader-f16')) return false;
  const code = `${component === 'f16' ? 'enable f16;' : ''}
enable chromium_experimental_subgroup_matrix;
var<workgroup> operand: array<${component}, 256>;
var<workgroup> sums: array<f32, 256>;
@compute @workgroup_size(${device.adapterInfo?.subgroupMaxSize || 128})
fn main() {
  let left = subgroupMatrixLoad<subgroup_matrix_left<${component}, ${K}, ${M}>, row_major>(&operand, 0u, ${K}u);
  let right = subgroupMatrixLoad<subgroup_matrix_right<${component}, ${N}, ${K}>, row_major>(&operand, 0u, ${N}u);
  subgroupMatrixStore<row_major>(&sums, 0u, subgroupMatrixMultiply<f32>(left, right), ${N}u);
}`;
  // A compile error must not reach the page's error handler.
  device.pushErrorScope('validation');
  const label = 'tilewise subgroup matrices';
  const compute = { module: device.createShaderModule({ label, code }), entryPoint: 'main' };
  const made = device.createComputePipelineAsync({ label, layout: 'auto', compute }).then(
    () => true,
    () => false,
  );
  const error = await device.popErrorScope();
  return (await made) && error === null;
}
