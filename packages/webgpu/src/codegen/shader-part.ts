import { composeWgsl, type WgslPiece } from '@tilewise/philox/wgsl';

/** A storage buffer of a kernel. `name` is that of the tensor that the caller binds. */
export interface StorageBinding {
  readonly name: string;
  /** Its name in WGSL. Default: the tensor's, which must then be no function of WGSL, as `max` is. */
  readonly variable?: string;
  /** WGSL type of one array element, e.g. `vec4f`. */
  readonly element: string;
  readonly access: 'read' | 'read_write';
  /** Bytes of one tensor element; the bound tensor must start at a multiple of `alignment` bytes. */
  readonly elementBytes: number;
  readonly alignment: number;
  /** Whether a kernel that writes to it also reads of it what was there before its plan ran. */
  readonly updates?: boolean;
  /**
   * Read as `readElement` says, so that a kernel with more tensors than a device binds can find it in the
   * workspace instead. It is read only, and its WGSL elements are words.
   */
  readonly gatherable?: boolean;
  /**
   * Binds only some of the tensor: its `elements` from index · elements on, of what a dispatch needs of it.
   */
  readonly segment?: {
    readonly of: string;
    readonly index: number;
    readonly count: number;
    readonly elements: number;
  };
}

/** The name of the binding of one segment of a tensor; the first has the tensor's own. */
export const segmentName = (tensor: string, index: number): string =>
  index === 0 ? tensor : `${tensor} (segment ${index})`;

/** The tensor that a binding is of. */
export const tensorOf = ({ name, segment }: StorageBinding): string => segment?.of ?? name;

/** WGSL expression of array element `index` of a gatherable tensor; `variable` is its name in WGSL. */
export const readElement = (variable: string, index: string): string => `read_${variable}(${index})`;

/** The region of the workspace that gathered tensors are read from, one behind the other. */
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
  /** Offset of the tensor from the start of what it is read from, in elements. */
  | { readonly offsetOf: string }
  /** The size of the named tensor in whole words of 4 bytes. */
  | { readonly wordOf: string }
  /** One that the caller gives, by name. */
  | { readonly input: string }
  /** The first workgroup of this dispatch, or the one behind its last. */
  | { readonly dispatch: 'first' | 'end' };

/** One 4-byte field of a kernel's `Params` uniform, with its value. */
export interface UniformField {
  readonly name: string;
  readonly type: 'u32' | 'i32' | 'f32';
  readonly value: number | EncodeTimeValue;
}

/** Uniforms that are whole numbers, by their names, or numbers, behind the prefix. */
export const wholeUniforms = (
  values: Readonly<Record<string, UniformField['value']>> | readonly number[],
  prefix = '',
): UniformField[] =>
  Object.entries(values).map(([name, value]) => ({ name: `${prefix}${name}`, type: 'u32', value }));

/** A piece of a kernel: WGSL declarations with the buffers and uniforms that they use. */
export interface ShaderPart {
  readonly bindings?: readonly StorageBinding[];
  readonly uniforms?: readonly UniformField[];
  readonly code?: string;
  readonly requires?: readonly WgslPiece[];
  /** Lines for the very start of the module, such as `enable f16;`. */
  readonly directives?: readonly string[];
  /** Further parameters of the entry point. */
  readonly builtins?: readonly string[];
  /** Attributes of the entry point. */
  readonly attributes?: readonly string[];
}

/**
 * The declarations of all parts: `Params`, bindings in order, required pieces once, and each part's code.
 * Parts may share a binding or a uniform by its name. `tensorsToGather` says, of all bindings, which of the
 * gatherable ones are not bound but read from `workspace.gathered`.
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
 * Regions of the workspace are in one buffer, which a kernel that writes one of them may bind for writing
 * only.
 */
function withOneAccess(bindings: readonly StorageBinding[]): readonly StorageBinding[] {
  const writes = bindings.some(({ name, access }) => isInWorkspace(name) && access === 'read_write');
  return bindings.map(b => (writes && isInWorkspace(b.name) ? { ...b, access: 'read_write' } : b));
}

/** Whether a binding is a region of the workspace: `workspace` itself, or a further one behind it. */
export const isInWorkspace = (name: string): boolean => name === 'workspace' || name.startsWith('workspace.');

/** Bytes of the `Params` buffer: uniform buffers come in 16-byte steps. */
export function uniformBytes(uniforms: readonly UniformField[]): number {
  return Math.max(16, Math.ceil(uniforms.length / 4) * 16);
}

/** The bytes of a `Params` buffer; `resolve` gives the values that are known only now. */
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
