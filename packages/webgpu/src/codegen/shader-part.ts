import { composeWgsl, type WgslPiece } from '@tilewise/philox/wgsl';

/** A storage buffer of a kernel. */
export interface StorageBinding {
  /** The name of the tensor that the caller binds. */
  readonly name: string;
  /**
   * Its name in WGSL. Default: the tensor's name, which must then not be that of a WGSL function, such as
   * `max`.
   */
  readonly variable?: string;
  /** WGSL type of one array element, e.g. `vec4f`. */
  readonly element: string;
  /** Whether the kernel only reads the tensor. */
  readonly access: 'read' | 'read_write';
  /** The size of one element of the tensor, in bytes. */
  readonly elementBytes: number;
  /** The bound tensor must start at a multiple of this number of bytes. */
  readonly alignment: number;
  /** Whether a kernel that writes the tensor also reads content from before the plan. */
  readonly updates?: boolean;
  /**
   * Whether the tensor is read with `readElement`, so that a kernel with more tensors than a device binds can
   * read it from the workspace instead. Such a tensor is only read, and its WGSL elements are words.
   */
  readonly gatherable?: boolean;
  /**
   * Binds only a segment of the range that a dispatch needs: `elements` elements, starting at index ·
   * elements.
   */
  readonly segment?: {
    readonly of: string;
    readonly index: number;
    readonly count: number;
    readonly elements: number;
  };
}

/** The name of the binding of one segment of a tensor; the first has the tensor's own name. */
export const segmentName = (tensor: string, index: number): string =>
  index === 0 ? tensor : `${tensor} (segment ${index})`;

/** The name of the tensor that a binding belongs to. */
export const tensorOf = ({ name, segment }: StorageBinding): string => segment?.of ?? name;

/** WGSL expression of array element `index` of a gatherable tensor; `variable` is its name in WGSL. */
export const readElement = (variable: string, index: string): string => `read_${variable}(${index})`;

/** The region of the workspace from which gathered tensors are read. It contains them one after the other. */
export const gatheredTensor = 'workspace.gathered';

export const gatheredBinding: StorageBinding = {
  name: gatheredTensor,
  variable: 'gathered',
  element: 'u32',
  access: 'read',
  elementBytes: 4,
  alignment: 4,
};

/** A number that is only known when a plan is encoded. */
export type EncodeTimeValue =
  /** The offset of the tensor from the start of the range that it is read from, in elements. */
  | { readonly offsetOf: string }
  /** The word in which the tensor starts: the same offset in words of 4 bytes, rounded down. */
  | { readonly wordOf: string }
  /** A number of the call: `scale`, or the low or high word of a seed or an offset, such as `seedLow`. */
  | { readonly input: string }
  /** The first workgroup of this dispatch, or the one after its last. */
  | { readonly dispatch: 'first' | 'end' };

/** One 4-byte field of a kernel's `Params` uniform, with its value. */
export interface UniformField {
  /** The name of the field: WGSL reads `P.NAME`. */
  readonly name: string;
  /** The WGSL type of the field. */
  readonly type: 'u32' | 'i32' | 'f32';
  /** The number, or where `encode` gets the number from. */
  readonly value: number | EncodeTimeValue;
}

/** Uniforms of type u32, named by a prefix followed by the keys or indices of their values. */
export const u32Uniforms = (
  values: Readonly<Record<string, UniformField['value']>> | readonly number[],
  prefix = '',
): UniformField[] =>
  Object.entries(values).map(([name, value]) => ({ name: `${prefix}${name}`, type: 'u32', value }));

/** A piece of a kernel: WGSL declarations, with the buffers and uniforms that they use. */
export interface ShaderPart {
  readonly bindings?: readonly StorageBinding[];
  readonly uniforms?: readonly UniformField[];
  readonly code?: string;
  readonly requires?: readonly WgslPiece[];
  /** Lines for the start of the module, such as `enable f16;`. */
  readonly directives?: readonly string[];
  /** Additional parameters of the entry point. */
  readonly builtins?: readonly string[];
  /** Attributes of the entry point. */
  readonly attributes?: readonly string[];
}

/**
 * The declarations of all parts: `Params`, the bindings in order, each required piece once, and each part's
 * code. Parts may share a binding or a uniform by its name. `tensorsToGather` selects, from all bindings, the
 * gatherable tensors that are not bound but read from `workspace.gathered`.
 */
export function declareParts(
  parts: readonly ShaderPart[],
  tensorsToGather: (bindings: readonly StorageBinding[]) => ReadonlySet<string>,
): {
  wgsl: string;
  bindings: readonly StorageBinding[];
  gathered: readonly StorageBinding[];
  uniforms: readonly UniformField[];
} {
  const all = [...new Map(parts.flatMap(part => part.bindings ?? []).map(b => [b.name, b])).values()];
  const out = tensorsToGather(all);
  const gathered = all.filter(({ name }) => out.has(name));
  const bindings = withOneAccess([
    ...all.filter(({ name }) => !out.has(name)),
    ...(gathered.length > 0 ? [gatheredBinding] : []),
  ]);
  const uniforms = [...new Map(parts.flatMap(part => part.uniforms ?? []).map(u => [u.name, u])).values()];
  const wgsl = [
    `struct Params {\n${uniforms.map(({ name, type }) => `  ${name}: ${type},`).join('\n')}\n}`,
    '@group(0) @binding(0) var<uniform> P: Params;',
    ...bindings.map(
      ({ name, variable = name, element, access }, n) =>
        `@group(0) @binding(${n + 1}) var<storage, ${access}> ${variable}: array<${element}>;`,
    ),
    ...all.filter(({ gatherable }) => gatherable).map(binding => reader(binding, out.has(binding.name))),
    composeWgsl(...parts.flatMap(part => part.requires ?? [])).trim(),
    ...parts.flatMap(part => (part.code ? [part.code.trim()] : [])),
  ];
  return { wgsl: wgsl.filter(Boolean).join('\n\n'), bindings, gathered, uniforms };
}

function reader({ name, variable = name, element }: StorageBinding, isGathered: boolean): string {
  const word = element === 'u32' ? 'gathered[at]' : `bitcast<${element}>(gathered[at])`;
  return `fn ${readElement(variable, 'at: u32')} -> ${element} {
  return ${isGathered ? word : `${variable}[at]`};
}`;
}

/**
 * Regions of the workspace are in one buffer; a kernel that writes one of them must bind all of them for
 * writing.
 */
function withOneAccess(bindings: readonly StorageBinding[]): readonly StorageBinding[] {
  const writes = bindings.some(({ name, access }) => isInWorkspace(name) && access === 'read_write');
  return bindings.map(b => (writes && isInWorkspace(b.name) ? { ...b, access: 'read_write' } : b));
}

/** Whether a binding is a region of the workspace: `workspace` itself, or a further region after it. */
export const isInWorkspace = (name: string): boolean => name === 'workspace' || name.startsWith('workspace.');

/** The size of the `Params` buffer in bytes: uniform buffers come in steps of 16 bytes. */
export function uniformBytes(uniforms: readonly UniformField[]): number {
  return Math.max(16, Math.ceil(uniforms.length / 4) * 16);
}

/** The bytes of a `Params` buffer; `resolve` returns the values that are only known now. */
export function packUniforms(
  uniforms: readonly UniformField[],
  resolve: (value: EncodeTimeValue) => number,
): ArrayBuffer {
  const bytes = new ArrayBuffer(uniformBytes(uniforms));
  const words = new DataView(bytes);
  uniforms.forEach(({ type, value }, n) => {
    const number = typeof value === 'number' ? value : resolve(value);
    if (type === 'f32') words.setFloat32(n * 4, number, true);
    else words.setUint32(n * 4, number, true);
  });
  return bytes;
}
