import type { SdpaOptions } from '@tilewise/core';
import { dropoutOffsetIncrement } from '@tilewise/philox';
import type { LayerShape } from './heads.ts';

/** Dropout of attention probabilities, drawn from Philox. */
export interface AttentionDropout {
  readonly p: number;
  readonly seed: number;
  /** Where in the random stream a pass starts; `passIncrement` says where the next one may. */
  readonly offset: bigint;
}

/** What a pass attends over: B sequences of S tokens, in `layers` layers. */
export interface PassShape {
  readonly layers: number;
  readonly shape: LayerShape;
  readonly B: number;
  readonly S: number;
}

/**
 * How a layer attends: never ahead; and in the first layer less the farther back (ALiBi), which is all that the model knows of
 * positions. Each layer draws its dropout from its own stretch of the stream.
 */
export function attentionOptions<T>(
  layer: number,
  pass: PassShape,
  dropout: AttentionDropout | undefined,
): SdpaOptions<T> {
  return {
    causal: true,
    ...(layer === 0 && { alibi: slopes(pass.shape) }),
    ...(dropout && {
      dropout: { ...dropout, offset: dropout.offset + BigInt(layer) * layerIncrement(pass) },
    }),
  };
}

/** How far one pass moves the dropout offset. */
export function passIncrement(pass: PassShape): bigint {
  return BigInt(pass.layers) * layerIncrement(pass);
}

function layerIncrement({ shape: { heads }, B, S }: PassShape): bigint {
  return dropoutOffsetIncrement('torch-efficient', { B, H: heads, Sq: S, Skv: S });
}

/** Steeper than the standard slopes, which are for long texts. */
function slopes({ heads }: LayerShape): number[] {
  return Array.from({ length: heads }, (_, h) => 2 ** -h);
}
