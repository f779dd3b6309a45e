import { checkOneOf, checkOptions } from '../errors.ts';
import { type StreamOptions, streamAddress } from '../stream/stream-address.ts';
import { toUint } from '../u64.ts';
import { laneWgsl, philox4x32Wgsl } from '../wgsl-pieces/block.ts';
import { composeWgsl, type WgslPiece } from '../wgsl-pieces/piece.ts';
import { u64Wgsl } from '../wgsl-pieces/u64.ts';
import { bernoulliUniforms, bernoulliWgsl, normalWgsl, uniformWgsl } from './distribution.ts';
import { checkWorkgroupSize, mainHead, type PhiloxKernel } from './kernel.ts';

/**
 * The distribution of a fill: words, f32 uniforms, f32 normals, or Bernoulli draws as bytes 0 and 1, four to
 * a word.
 */
export type FillDistribution = 'u32' | 'uniform' | 'normal' | 'bernoulli';

/** The options of `fillKernel`. */
export interface FillKernelOptions {
  /** What the kernel fills a buffer with. */
  readonly distribution: FillDistribution;
  /** Invocations per workgroup, 64 by default. */
  readonly workgroupSize?: number | undefined;
  /** Philox rounds, 10 by default. */
  readonly rounds?: number | undefined;
}

/**
 * Each invocation turns the four words from its position into four elements, like cuRAND's `curand4` family.
 */
const stores: Readonly<Record<FillDistribution, { element: string; requires: WgslPiece[]; store: string }>> =
  {
    u32: { element: 'u32', requires: [], store: storeFour('words') },
    uniform: {
      element: 'f32',
      requires: [uniformWgsl],
      store: `  var values = vec4f(0.0);
  for (var n = 0u; n < 4u; n++) {
    values[n] = philox_uniform(words[n]);
  }
${storeFour('values')}`,
    },
    normal: {
      element: 'f32',
      requires: [normalWgsl],
      store: `  let values = vec4f(philox_normal_pair(words.x, words.y), philox_normal_pair(words.z, words.w));
${storeFour('values')}`,
    },
    bernoulli: {
      element: 'u32',
      requires: [],
      store: `  var packed = 0u;
  for (var n = 0u; n < 4u; n++) {
    let hit = philox_bernoulli(words[n], params.bernoulli) && first + n < params.count;
    packed |= select(0u, 1u, hit) << (8u * n);
  }
  destination[first / 4u] = packed;`,
    },
  };

function storeFour(values: string): string {
  return `  for (var n = 0u; n < 4u && first + n < params.count; n++) {
    destination[first + n] = ${values}[n];
  }`;
}

/**
 * A kernel that fills a buffer from a Philox4x32 stream: on `@group(0)`, `@binding(0)` is the destination, a
 * storage buffer of u32 or f32 (for `bernoulli`, of words with four bytes each, the bytes past the end 0),
 * and `@binding(1)` a uniform buffer with the words of {@link fillUniformWords}. For the same options, the
 * kernel writes the same bits as `fillU32`, `fillUniform` and `fillBernoulli`, and almost the same normals as
 * `fillNormal`. It needs no optional feature.
 *
 * @throws InvalidArgumentError if `distribution`, `rounds` or `workgroupSize` is out of its range.
 */
export function fillKernel(options: FillKernelOptions): PhiloxKernel {
  checkOptions('options', options, ['distribution', 'workgroupSize', 'rounds']);
  const { distribution, workgroupSize = 64, rounds = 10 } = options;
  checkOneOf<string>('distribution', distribution, Object.keys(stores));
  const { element, requires, store } = stores[distribution];
  const size = checkWorkgroupSize(workgroupSize);
  const main: WgslPiece = {
    code: `struct FillParams {
  seed: vec2u,
  block: vec2u,
  subsequence: vec2u,
  lane: u32,
  count: u32,
  bernoulli: BernoulliParams,
}

@group(0) @binding(0) var<storage, read_write> destination: array<${element}>;
@group(0) @binding(1) var<uniform> params: FillParams;

fn fill_block(quad: u32) -> vec4u {
  return philox4x32_${rounds}(vec4u(u64_add_u32(params.block, quad), params.subsequence), params.seed);
}

${mainHead(size)}
  var words = fill_block(quad);
  if (params.lane != 0u) {
    words = philox_stitch(words, fill_block(quad + 1u), params.lane);
  }
${store}
}
`,
    requires: [u64Wgsl, philox4x32Wgsl(rounds), laneWgsl, bernoulliWgsl, ...requires],
  };
  return { code: composeWgsl(main), workgroupSize: size, elementsPerWorkgroup: 4 * size };
}

/**
 * The uniform buffer of {@link fillKernel}: ten words, for `count` elements starting at a stream position,
 * and for `bernoulli` with the probability `p` of a 1.
 *
 * @throws InvalidArgumentError if an option is out of its range or `count` does not fit 32 bits.
 */
export function fillUniformWords(
  options: Omit<StreamOptions, 'rounds'> & { readonly count: number; readonly p?: number | undefined },
): Uint32Array<ArrayBuffer> {
  // The rounds are an option of the kernel.
  checkOptions('options', options, ['seed', 'subsequence', 'offset', 'count', 'p']);
  const { key, counter, lane } = streamAddress(options, ['count', 'p']);
  const count = Number(toUint(options.count, 'count', 32));
  const { threshold, always } = bernoulliUniforms(options.p ?? 0);
  return new Uint32Array([...key, ...counter, lane, count, threshold, always]);
}
