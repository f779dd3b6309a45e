import {
  type Engine,
  type RaggedName,
  type SdpaBackwardOptions,
  type SdpaOptions,
  Tensor,
} from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';
import type { Call, Inputs } from '../tensors/call.ts';
import { backwardOptions } from '../tensors/options.ts';
import { raggedOffsets } from '../tensors/ragged.ts';
import type { PassResults, Runner } from './runner.ts';

/**
 * Runs calls on an engine with host tensors. The engine allocates its results itself, so it could only damage
 * its inputs.
 */
export function hostRunner(engine: Engine<Tensor>): Runner {
  return {
    async forward({ concrete, laidOut }: Call): Promise<PassResults> {
      const { q, k, v, options } = laidOut;
      return untouched(laidOut, async () => ({
        ...(await engine.sdpa(q, k, v, { ...options, ...ragged(concrete, options, ['o']) })),
      }));
    },
    async backward({ concrete, laidOut }: Call, { tensors }: PassResults): Promise<PassResults> {
      const { q, k, v, dO, options } = laidOut;
      const inputs = { q, k, v, dO, o: tensors.o, lse: tensors.lse };
      return untouched(laidOut, async () => ({
        ...(await engine.sdpaBackward(inputs, {
          ...options,
          ...backwardOptions(concrete),
          ...ragged(concrete, options, ['o', 'dq', 'dk', 'dv']),
        })),
      }));
    },
  };
}

/** The ragged offsets of the engine's results, which have no gaps, beside those of its inputs. */
function ragged(
  c: Concrete,
  { raggedOffsets: given }: SdpaOptions<Tensor>,
  made: readonly RaggedName[],
): Pick<SdpaBackwardOptions<Tensor>, 'raggedOffsets'> {
  if (!given) return {};
  const dO = raggedOffsets(c, made.length > 1 ? ['dO'] : []);
  return { raggedOffsets: { ...given, ...dO, ...raggedOffsets(c, made, { contiguous: true }) } };
}

async function untouched(
  inputs: Inputs,
  run: () => Promise<Readonly<Record<string, unknown>>>,
): Promise<PassResults> {
  const given = Object.entries(inputs).filter(
    (entry): entry is [string, Tensor] => entry[1] instanceof Tensor,
  );
  const before = given.map(([, { data }]) => bytes(data).slice());
  const tensors = Object.fromEntries(
    Object.entries(await run()).filter((entry): entry is [string, Tensor] => entry[1] instanceof Tensor),
  );
  const damage = given
    .filter(([, { data }], i) => Buffer.compare(bytes(data), before[i]) !== 0)
    .map(([name]) => `${name}, an input, was changed`);
  return { tensors, damage };
}

function bytes(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
