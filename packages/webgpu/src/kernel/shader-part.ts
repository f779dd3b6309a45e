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
}

/** A number that is only known when a plan is encoded. */
export type EncodeTimeValue =
  /** Offset of the bound tensor from the start of its binding, in elements. */
  | { readonly offsetOf: string }
  /** One that the caller gives, by name. */
  | { readonly input: string };

/** One 4-byte field of a kernel's `Params` uniform, with its value. */
export interface UniformField {
  readonly name: string;
  readonly type: 'u32' | 'i32' | 'f32';
  readonly value: number | EncodeTimeValue;
}

/** A piece of a kernel: WGSL declarations with the buffers and uniforms that they use. */
export interface ShaderPart {
  readonly bindings?: readonly StorageBinding[];
  readonly uniforms?: readonly UniformField[];
  readonly code?: string;
  readonly requires?: readonly WgslPiece[];
}

/** The declarations of all parts: `Params`, bindings in order, required pieces once, and each part's code. */
export function declareParts(parts: readonly ShaderPart[]): {
  wgsl: string;
  bindings: readonly StorageBinding[];
  uniforms: readonly UniformField[];
} {
  const bindings = parts.flatMap(part => part.bindings ?? []);
  const uniforms = parts.flatMap(part => part.uniforms ?? []);
  const wgsl = [
    `struct Params {\n${uniforms.map(({ name, type }) => `  ${name}: ${type},`).join('\n')}\n}`,
    '@group(0) @binding(0) var<uniform> P: Params;',
    ...bindings.map(
      ({ name, variable = name, element, access }, n) =>
        `@group(0) @binding(${n + 1}) var<storage, ${access}> ${variable}: array<${element}>;`,
    ),
    composeWgsl(...parts.flatMap(part => part.requires ?? [])).trim(),
    ...parts.flatMap(part => (part.code ? [part.code.trim()] : [])),
  ];
  return { wgsl: wgsl.filter(Boolean).join('\n\n'), bindings, uniforms };
}

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
