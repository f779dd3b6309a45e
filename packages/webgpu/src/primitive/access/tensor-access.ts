import { elementCount, elementsSpanned, type TensorDesc } from '@tilewise/core';
import type { BindingBudget } from '../../codegen/binding-pressure.ts';
import { type ElementFormat, elementFormat, wgslTypes } from '../../codegen/formats/element-format.ts';
import { arrayElement } from '../../codegen/formats/storage-format.ts';
import { readBinding, storePart } from '../../codegen/formats/tensor-binding.ts';
import { readElement, type ShaderPart, type UniformField, u32Uniforms } from '../../codegen/shader-part.ts';
import { byName, type InPlaceNames, type PrimitiveTensors } from './primitive-tensors.ts';

/** The start of a tensor and its strides along the dimensions of a space: `NAME_base`, `NAME_step0`… */
function strideUniforms(name: string, steps: readonly number[], home = name): UniformField[] {
  const base = u32Uniforms({ [`${name}_base`]: { offsetOf: home } });
  return [...base, ...u32Uniforms(steps, `${name}_step`)];
}

/** WGSL expression of the index of a tensor's element at some indices, of its space or of its own. */
function elementAt(name: string, indices: readonly string[]): string {
  return [`P.${name}_base`, ...indices.map((index, d) => `${index} * P.${name}_step${d}`)].join(' + ');
}

/** Whether all groups of four elements along the last dimension of a space are aligned vectors. */
export function isVectorised(steps: readonly number[], isUnaligned: boolean): boolean {
  return !isUnaligned && steps.at(-1) === 1 && steps.slice(0, -1).every(step => step % 4 === 0);
}

/**
 * How a kernel reads a tensor along its space: four elements at once as a vector, one element for all four,
 * or each element separately.
 */
export type Reading = 'vector' | 'same' | 'each';

/**
 * Whether a kernel has more tensors than the device binds. Small tensors are then gathered, and read through
 * a single binding.
 */
export function bindingPressureOf(
  tensors: readonly string[],
  { capabilities, inputs, outputs }: PrimitiveTensors,
): { readonly isOverBudget: boolean; readonly budget: BindingBudget } {
  const { maxStorageBuffersPerShaderStage: buffers } = capabilities;
  return {
    isOverBudget: tensors.length > buffers,
    budget: { buffers, spans: byName(inputs, outputs, elementsSpanned) },
  };
}

/** How the words of a tensor are written in WGSL. */
const wordsOf = (name: string, isOverBudget: boolean): ((index: string) => string) =>
  isOverBudget ? index => readElement(name, index) : arrayElement(name);

const parameters = (indices: readonly string[]): string => indices.map(index => `${index}: u32`).join(', ');

/**
 * `NAME_at(i0, i1…)`: the element at a position of the space, as the expression type that it is read as. If
 * `four` is given, also `NAME_at4(i0, i1…)`: this element and the next three along the last dimension.
 * @param home the output that overwrites the tensor, through which it is read; otherwise the tensor itself.
 */
export function readInSpace(
  name: string,
  { dtype }: TensorDesc,
  steps: readonly number[],
  four: Reading | null,
  isOverBudget = false,
  home: string = name,
): ShaderPart {
  const format = elementFormat(dtype);
  const indices = steps.map((_, d) => `i${d}`);
  const { one: element, four: vector } = wgslTypes[format.type];
  const isVector = four === 'vector';
  const declared = parameters(indices);
  const last = indices.length - 1;
  const single = `fn ${name}_at(${declared}) -> ${element} {
  let at = ${elementAt(name, indices)};
  return ${format.load(wordsOf(home, isOverBudget), 'at')};
}`;
  const further = [0, 1, 2, 3].map(c => indices.map((index, d) => (d === last ? `${index} + ${c}u` : index)));
  const quad: Readonly<Record<Reading, string>> = {
    vector: format.load4(home, `(${elementAt(name, indices)}) >> 2u`),
    same: `${vector}(${name}_at(${indices.join(', ')}))`,
    each: `${vector}(${further.map(position => `${name}_at(${position.join(', ')})`).join(', ')})`,
  };
  const several =
    four &&
    `fn ${name}_at4(${declared}) -> ${vector} {
  return ${quad[four]};
}`;
  return {
    bindings: [{ ...readBinding(home, format, isVector), gatherable: isOverBudget }],
    uniforms: strideUniforms(name, steps, home),
    requires: format.requires,
    code: [isVector ? '' : single, several ?? ''].filter(Boolean).join('\n\n'),
  };
}

/** `NAME_pick(i0, i1…)`: the element at the tensor's own indices, i32, each clamped to the tensor. */
export function readAnywhere(
  name: string,
  { dtype, shape, strides }: TensorDesc,
  isOverBudget = false,
): ShaderPart {
  const format = elementFormat(dtype);
  const offsets = shape.map((_, d) => ` + u32(clamp(i${d}, 0i, P.${name}_last${d})) * P.${name}_stride${d}`);
  return {
    bindings: [{ ...readBinding(name, format), gatherable: isOverBudget }],
    uniforms: [
      ...u32Uniforms({ [`${name}_base`]: { offsetOf: name } }),
      ...shape.flatMap((extent, d): UniformField[] => [
        { name: `${name}_last${d}`, type: 'i32', value: Math.max(extent - 1, 0) },
        { name: `${name}_stride${d}`, type: 'u32', value: strides[d] },
      ]),
    ],
    requires: format.requires,
    code: `fn ${name}_pick(${shape.map((_, d) => `i${d}: i32`).join(', ')}) -> ${wgslTypes[format.type].one} {
  let at = P.${name}_base${offsets.join('')};
  return ${format.load(wordsOf(name, isOverBudget), 'at')};
}`,
  };
}

/**
 * How a kernel writes a tensor along its space: `vector`, four elements at once; `words`, four elements at
 * once of a dense tensor with any row starts, merging the last ones into existing words; `each`, one by one,
 * replacing only the element's part of a word.
 */
export type Writing = 'vector' | 'words' | 'each';

/** The way in which a tensor can be written. */
export function writingOf(
  { dtype }: TensorDesc,
  { extents, steps }: { readonly extents: readonly number[]; readonly steps: readonly number[] },
  isUnaligned: boolean,
): Writing {
  const { bytes } = elementFormat(dtype);
  if ((extents.at(-1) ?? 1) % 4 === 0 && isVectorised(steps, isUnaligned)) return 'vector';
  const isDense = steps.every((step, d) => step === elementCount(extents.slice(d + 1)));
  return bytes < 4 && isDense && !isUnaligned ? 'words' : 'each';
}

/**
 * `NAME_element(i0, i1…) -> u32`: the index of the element at a position. `NAME_store4(at, count, values)`
 * writes `count` (1 to 4) values: to consecutive elements from `at.x` or, with `each`, to the elements `at`.
 * `from` is the expression type of the values.
 * @param inPlace for inputs that are overwritten: the outputs that are also read, by the names of these
 * inputs.
 */
export function writeInSpace(
  name: string,
  { dtype }: TensorDesc,
  steps: readonly number[],
  writing: Writing,
  from: keyof typeof wgslTypes,
  inPlace: InPlaceNames = {},
): ShaderPart {
  const format = elementFormat(dtype);
  const { bytes, requires } = format;
  const binding = readBinding(name, format, writing === 'vector');
  const isAtomic = writing === 'each' && bytes < 4;
  const indices = steps.map((_, d) => `i${d}`);
  const part = isAtomic ? `${storePart(name, bytes as 1 | 2)}\n\n` : '';
  return {
    bindings: [
      {
        ...{ ...binding, access: 'read_write' },
        ...(isAtomic && { element: 'atomic<u32>' }),
        updates: Object.values(inPlace).includes(name),
        alignment: writing === 'each' ? bytes : 4 * bytes,
      },
    ],
    uniforms: strideUniforms(name, steps),
    requires,
    code: `${part}fn ${name}_element(${parameters(indices)}) -> u32 {
  return ${elementAt(name, indices)};
}

fn ${name}_store4(at: vec4u, count: u32, values: ${wgslTypes[from].four}) {
  let codes = ${format.encode4('values', from)};
  ${storeStatements(name, format, writing)}
}`,
  };
}

function storeStatements(name: string, { bytes, pack4 }: ElementFormat, writing: Writing): string {
  if (writing === 'vector') return `${name}[at.x >> 2u] = ${pack4('codes')};`;
  if (writing === 'each') {
    const one = bytes === 4 ? `${name}[at[c]] = codes[c];` : `${name}_store_part(at[c], codes[c]);`;
    return `for (var c = 0u; c < count; c++) {
    ${one}
  }`;
  }
  const perWord = 4 / bytes;
  const packed =
    bytes === 2 ? `let packed = ${pack4('codes')};` : `let packed = vec2u(${pack4('codes')}, 0u);`;
  // A word that ends beyond the tensor keeps its other content.
  return `${packed}
  for (var c = 0u; c < count; c += ${perWord}u) {
    let own = select(0xffffffffu, (1u << ((count - c) * ${8 * bytes}u)) - 1u, count - c < ${perWord}u);
    let word = (at.x + c) / ${perWord}u;
    ${name}[word] = (${name}[word] & ~own) | (packed[c / ${perWord}u] & own);
  }`;
}
