import { splitU64 } from '@tilewise/philox';
import {
  composeWgsl,
  dropoutMaskKernel,
  dropoutMaskUniformWords,
  dropoutUniforms,
  fillKernel,
  fillUniformWords,
  type PhiloxKernel,
  philox2x32Wgsl,
  philox4x32Wgsl,
} from '@tilewise/philox/wgsl';
import type { ComputeRunner } from './compute-runner.ts';
import type { Generator, MaskRequest, StreamRequest } from './generator.ts';

/** The WGSL of `@tilewise/philox` on a device. */
export function webgpuGenerator(runner: ComputeRunner): Generator {
  async function block4x32(
    counter: readonly number[],
    key: readonly number[],
    rounds: number,
  ): Promise<number[]> {
    const params = new Uint32Array([...counter, ...key]);
    return [...(await runner.run({ code: blockShader4x32(rounds), workgroups: 1, params, resultWords: 4 }))];
  }

  async function block2x32(counter: readonly number[], key: number, rounds: number): Promise<number[]> {
    const params = new Uint32Array([...counter, key]);
    return [...(await runner.run({ code: blockShader2x32(rounds), workgroups: 1, params, resultWords: 2 }))];
  }

  function run(kernel: PhiloxKernel, count: number, params: Uint32Array, resultWords: number) {
    const workgroups = Math.ceil(count / kernel.elementsPerWorkgroup);
    return runner.run({ code: kernel.code, workgroups, params, resultWords });
  }

  async function stream(request: StreamRequest): Promise<number[]> {
    const { seed, subsequence, block, rounds, count } = request;
    const offset = 4n * block;
    // The kernel's stream positions are 64-bit counts of words, so it cannot reach the last blocks.
    if (offset >= 1n << 64n) return streamByBlocks(request);
    const params = fillUniformWords({ seed, subsequence, offset, count });
    return [...(await run(fillKernel({ distribution: 'u32', rounds }), count, params, count))];
  }

  async function streamByBlocks({
    seed,
    subsequence,
    block,
    rounds,
    count,
  }: StreamRequest): Promise<number[]> {
    const words: number[] = [];
    for (let at = (subsequence << 64n) + block; words.length < count; at++) {
      words.push(...(await block4x32([...splitU64(at), ...splitU64(at >> 64n)], splitU64(seed), rounds)));
    }
    return words.slice(0, count);
  }

  async function mask(request: MaskRequest): Promise<Uint8Array> {
    const { B, H, Sq, Skv } = request.shape;
    const count = B * H * Sq * Skv;
    const kernel = dropoutMaskKernel({ scheme: request.scheme });
    const words = await run(kernel, count, dropoutMaskUniformWords(request), Math.ceil(count / 4));
    return new Uint8Array(words.buffer, 0, count);
  }

  return {
    isHost: false,
    block4x32,
    block2x32,
    stream,
    mask,
    dropoutNumbers: (scheme, p) => {
      const source = { scheme, p, seed: 0, shape: { Sq: 1, Skv: 1 } };
      const { threshold, keepNone, scale } = dropoutUniforms(source);
      return { threshold: keepNone === 1 ? 2 ** 32 : threshold, scale };
    },
  };
}

const blockShader4x32 = (rounds: number): string =>
  composeWgsl({
    code: `struct BlockParams {
  counter: vec4u,
  key: vec2u,
}

@group(0) @binding(0) var<storage, read_write> destination: array<vec4u>;
@group(0) @binding(1) var<uniform> params: BlockParams;

@compute @workgroup_size(1)
fn main() {
  destination[0] = philox4x32_${rounds}(params.counter, params.key);
}
`,
    requires: [philox4x32Wgsl(rounds)],
  });

const blockShader2x32 = (rounds: number): string =>
  composeWgsl({
    code: `struct BlockParams {
  counter: vec2u,
  key: u32,
}

@group(0) @binding(0) var<storage, read_write> destination: array<vec2u>;
@group(0) @binding(1) var<uniform> params: BlockParams;

@compute @workgroup_size(1)
fn main() {
  destination[0] = philox2x32_${rounds}(params.counter, params.key);
}
`,
    requires: [philox2x32Wgsl(rounds)],
  });
