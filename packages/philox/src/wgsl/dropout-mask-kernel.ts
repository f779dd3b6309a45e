import { checkScheme, type DropoutSource } from '../dropout/options.ts';
import type { DropoutSchemeName, DropoutShape } from '../dropout/scheme.ts';
import { checkOptions, InvalidArgumentError } from '../errors.ts';
import { composeWgsl } from '../wgsl-pieces/piece.ts';
import { dropoutPieces, dropoutUniforms, dropoutUniformWords } from './dropout.ts';
import { checkWorkgroupSize, mainHead, type PhiloxKernel } from './kernel.ts';

/**
 * A kernel that writes a whole dropout mask, row-major (B, H, Sq, Skv), one byte per element and 1 = keep. On
 * `@group(0)`, `@binding(0)` is the destination, a storage buffer of u32 words with four mask bytes each
 * (bytes past the end are 0), and `@binding(1)` is a uniform buffer with the words of
 * {@link dropoutMaskUniformWords}.
 * The mask equals that of `dropoutMask` bit for bit. The kernel needs no optional feature.
 *
 * @throws InvalidArgumentError if the scheme is unknown or `workgroupSize` is out of range.
 */
export function dropoutMaskKernel(options: {
  readonly scheme: DropoutSchemeName;
  readonly workgroupSize?: number | undefined;
}): PhiloxKernel {
  checkOptions('options', options, ['scheme', 'workgroupSize']);
  checkScheme(options.scheme);
  const size = checkWorkgroupSize(options.workgroupSize ?? 64);
  const code = `struct MaskParams {
  @size(48) dropout: DropoutParams,
  queries: u32,
  keys: u32,
  count: u32,
}

@group(0) @binding(0) var<storage, read_write> destination: array<u32>;
@group(0) @binding(1) var<uniform> params: MaskParams;

${mainHead(size)}
  let line = first / params.keys;
  let j = first % params.keys;
  var keep = vec4<bool>(false);
  if (j + 4u <= params.keys) {
    let row = dropout_row(params.dropout, line / params.queries, line % params.queries);
    keep = dropout_keep4_at(params.dropout, row, j);
  } else {
    for (var n = 0u; n < 4u && first + n < params.count; n++) {
      let l = (first + n) / params.keys;
      keep[n] = dropout_keep(params.dropout, l / params.queries, l % params.queries, (first + n) % params.keys);
    }
  }
  destination[quad] = dot(select(vec4u(0u), vec4u(1u, 0x100u, 0x10000u, 0x1000000u), keep), vec4u(1u));
}
`;
  return {
    code: composeWgsl({ code, requires: [dropoutPieces[options.scheme]] }),
    workgroupSize: size,
    elementsPerWorkgroup: 4 * size,
  };
}

/**
 * The contents of the uniform buffer of {@link dropoutMaskKernel}, 16 words.
 *
 * @throws InvalidArgumentError if an option is out of range or the mask has 2^32 elements or more.
 */
export function dropoutMaskUniformWords(
  options: DropoutSource & { readonly shape: DropoutShape },
): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(16);
  words.set(dropoutUniformWords(dropoutUniforms(options)));
  const { B, H, Sq, Skv } = options.shape;
  const count = B * H * Sq * Skv;
  if (!(count < 2 ** 32))
    throw new InvalidArgumentError('shape', `must have fewer than 2^32 elements, got ${count}`);
  words.set([Sq, Skv, count], 12);
  return words;
}
