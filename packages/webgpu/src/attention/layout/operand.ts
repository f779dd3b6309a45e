import type { OperandDesc, SequenceStarts } from '@tilewise/core';
import { sideOf as sides } from '@tilewise/core/engine';
import { arrayElement, storageFormat } from '../../codegen/formats/storage-format.ts';
import { floatWriter, readBinding } from '../../codegen/formats/tensor-binding.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import type { PagePart } from './pages.ts';

/** The side whose lengths a tensor's rows have: queries or keys. */
export type Side = 'q' | 'kv';

/**
 * The side of an operand's rows. Operands that are not in the operand table (those of MXFP8) are never
 * packed.
 */
export const sideOf = (name: string): Side =>
  (sides as Readonly<Record<string, string>>)[name] === 'Kv' ? 'kv' : 'q';

/** How kernels access the operands of a call. */
export interface OperandAccess {
  /**
   * Tensors that do not start at a multiple of four elements. Kernels read and write them element by element.
   */
  readonly unaligned: ReadonlySet<string>;
  /** Makes the code that reads paged keys and values. Default: the kernel reads none. */
  readonly tools?: { readonly pages?: PagePart };
}

/**
 * Whether four channels can be read or written as one vector: they are adjacent, and every row of a sequence
 * starts at a multiple of four elements from the start of the tensor. The tensor itself must start at such a
 * multiple too; `unaligned` names the tensors that do not. The offsets of ragged operands are unknown here,
 * and may have any value.
 */
function isVectorised({ shape, strides }: OperandDesc): boolean {
  const [sb, sh, ss, sd] = strides;
  return shape[3] % 4 === 0 && sd === 1 && [sb, sh, ss].every(s => s % 4 === 0);
}

/** `NAME_row(seq, h, s)`: the only code that knows the memory layout of an operand. */
function addressing(
  name: string,
  desc: OperandDesc,
  { tools }: OperandAccess,
): Required<Pick<ShaderPart, 'bindings' | 'uniforms' | 'code'>> {
  const { shape, strides, page, starts } = desc;
  const [sb, sh, ss, sd] = strides;
  const pages = page && isPageable(name) ? tools?.pages?.(name, page, shape[0]) : null;
  const block = pages ? `${name}_block(seq.b, s)` : 'seq.b';
  const row = pages ? `(s & P.${name}_page_mask)` : 's';
  const token: Readonly<Record<SequenceStarts, string>> = {
    strided: `${block} * P.${name}_sb + ${row} * P.${name}_ss`,
    cumulative: `(seq.start_${sideOf(name)} + s) * P.${name}_ss`,
    ragged: `min(seq.origin_${name} + s * P.${name}_ss, P.${name}_last)`,
  };
  return {
    bindings: pages?.bindings ?? [],
    uniforms: [
      ...u32Uniforms({ base: { offsetOf: name }, sb, sh, ss, sd, D: shape[3] }, `${name}_`),
      ...(pages?.uniforms ?? []),
    ],
    code: `${pages ? `${pages.code}\n\n` : ''}fn ${name}_row(seq: Sequence, h: u32, s: u32) -> u32 {
  return P.${name}_base + h * P.${name}_sh + ${token[starts]};
}`,
  };
}

const isPageable = (name: string): name is 'k' | 'v' => name === 'k' || name === 'v';

/** A loop over the existing channels d + c of one vector. */
const eachChannel = (
  name: string,
  statement: string,
): string => `  for (var c = 0u; c < min(4u, P.${name}_D - d); c++) {
    ${statement}
  }`;

/** Makes expressions of the words of an array of vectors, which hold four values of `bytes` bytes each. */
const vectorWord =
  (name: string, bytes: number) =>
  (index: string): string =>
    bytes === 1 ? `${name}[${index}]` : `${name}[(${index}) / ${bytes}u][(${index}) % ${bytes}u]`;

/**
 * Reading: `NAME_row(seq, h, s) -> u32` gives the index at which a row's channels start, and `NAME_load4(row,
 * d) -> vec4f` the channels d to d + 3 (d is a multiple of 4; channels beyond the head size are 0). For tiles
 * that read operands in f16, `NAME_load4_f16` gives these channels as vec4<f16>.
 */
export function readOperand(
  name: string,
  desc: OperandDesc,
  access: OperandAccess,
  operandType: 'f32' | 'f16' = 'f32',
): ShaderPart {
  const { unaligned } = access;
  const format = storageFormat(desc.dtype);
  const { bindings, uniforms, code } = addressing(name, desc, access);
  const vectorised = isVectorised(desc) && !unaligned.has(name);
  const isWhole = vectorised && desc.starts !== 'ragged';
  const one = vectorised ? vectorWord(name, format.bytes) : arrayElement(name);
  const four = `return ${format.load4(name, '(row + d) >> 2u')};`;
  const each = `  var x = vec4f();
${eachChannel(name, `x[c] = ${format.load(one, `row + (d + c) * P.${name}_sd`)};`)}
  return x;`;
  const either = `  if ((row & 3u) == 0u) {
    ${four}
  }
${each}`;
  const load = isWhole ? `  ${four}` : vectorised ? either : each;
  const half =
    isWhole && format.loadHalf4
      ? format.loadHalf4(name, '(row + d) >> 2u')
      : `vec4<f16>(${name}_load4(row, d))`;
  return {
    uniforms,
    bindings: [readBinding(name, format, vectorised), ...bindings],
    requires: format.requires,
    code: `${code}

fn ${name}_load4(row: u32, d: u32) -> vec4f {
${load}
}${operandType === 'f16' ? `\n\nfn ${name}_load4_f16(row: u32, d: u32) -> vec4<f16> {\n  return ${half};\n}` : ''}`,
  };
}

/** Reading several operands: see `readOperand`. */
export const readOperands = (
  operands: Readonly<Record<string, OperandDesc>>,
  access: OperandAccess,
  operandType?: 'f32' | 'f16',
): ShaderPart[] =>
  Object.entries(operands).map(([name, desc]) => readOperand(name, desc, access, operandType));

/**
 * Writing: `NAME_row` as above and `NAME_store4(row, d, x)`. Channels beyond the head size and gaps between
 * rows are not written: if a 16-bit or 8-bit value shares its word with another value, only its part of the
 * word is replaced, atomically.
 */
export function writeOperand(name: string, desc: OperandDesc, access: OperandAccess): ShaderPart {
  const { uniforms, code } = addressing(name, desc, access);
  const vectorised = isVectorised(desc) && desc.starts !== 'ragged' && !access.unaligned.has(name);
  const { binding, requires, functions, encode, ...writer } = floatWriter(name, desc.dtype, vectorised);
  const one = writer.storeOne(`row + (d + c) * P.${name}_sd`, `${writer.codes}[c]`);
  return {
    uniforms,
    bindings: [binding],
    requires,
    code: `${code}

${functions}

fn ${name}_store4(row: u32, d: u32, x: vec4f) {
  ${encode}
  ${vectorised ? writer.storeFour('(row + d) >> 2u') : eachChannel(name, one)}
}`,
  };
}
