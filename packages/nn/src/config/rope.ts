import type { ConfigReader } from './config-reader.ts';

/** Rotary position embeddings of a model: angle of pair i at position p is p·frequencies[i]. */
export interface Rope {
  /** Of each pair of rotated elements. */
  readonly frequencies: readonly number[];
  /** What cosine and sine are multiplied by: YaRN's temperature, else 1. */
  readonly factor: number;
}

/** What the angles of a model depend on beside `rope_parameters`. */
export interface RopeShape {
  readonly headDim: number;
  readonly maxPositions: number;
  /** The length of the sequence, which dynamic scaling depends on. */
  readonly length: number;
}

type RopeType = 'default' | 'linear' | 'dynamic' | 'llama3' | 'yarn';
const ropeTypes: readonly RopeType[] = ['default', 'linear', 'dynamic', 'llama3', 'yarn'];

/**
 * How positions are rotated, with the scaling of `rope_parameters`, or of `rope_theta` and `rope_scaling` as
 * older files have it.
 */
export function readRope(
  config: ConfigReader,
  shape: Omit<RopeShape, 'length'>,
  standardTheta = 10_000,
): (length: number) => Rope {
  const parameters = config.object('rope_parameters') ?? config.object('rope_scaling');
  // Both may be given: newer files repeat the base beside the parameters.
  const outer = config.number('rope_theta', standardTheta);
  if (parameters === null) return plainRope(shape.headDim, outer, config.number('partial_rotary_factor', 1));
  return readRopeParameters(parameters, shape, outer, config.number('partial_rotary_factor', 1));
}

/** The same of one object of parameters. */
export function readRopeParameters(
  parameters: ConfigReader,
  { headDim, maxPositions }: Omit<RopeShape, 'length'>,
  standardTheta: number,
  standardPart = 1,
): (length: number) => Rope {
  const type = parameters.oneOf('rope_type', ropeTypes, parameters.oneOf('type', ropeTypes, 'default'));
  const theta = parameters.number('rope_theta', standardTheta);
  const part = parameters.number('partial_rotary_factor', standardPart);
  const plain = plainRope(headDim, theta, part);
  const scaled = scalings[type](parameters, { headDim: headDim * part, maxPositions, theta });
  parameters.finish();
  return length => scaled(plain(length), length);
}

/** θ^(−2i/R) for each pair i of the R elements of a head that are rotated. */
export function plainRope(headDim: number, theta: number, part = 1): (length: number) => Rope {
  const rotated = Math.floor(headDim * part);
  const frequencies = Array.from({ length: rotated / 2 }, (_, i) => theta ** ((-2 * i) / rotated));
  return () => ({ frequencies, factor: 1 });
}

interface Scaled {
  readonly headDim: number;
  readonly maxPositions: number;
  readonly theta: number;
}

type Scaling = (parameters: ConfigReader, shape: Scaled) => (rope: Rope, length: number) => Rope;

const scalings: Readonly<Record<RopeType, Scaling>> = {
  default: parameters => {
    // Some files say a factor of 1 beside.
    parameters.only('factor', 1, 1.0);
    return rope => rope;
  },
  linear: parameters => {
    const factor = parameters.number('factor');
    return ({ frequencies }) => ({ frequencies: frequencies.map(f => f / factor), factor: 1 });
  },
  // "NTK-aware" with a base that grows with the length of the sequence.
  dynamic: (parameters, { headDim, maxPositions, theta }) => {
    const factor = parameters.number('factor');
    const known = parameters.integer('original_max_position_embeddings', maxPositions);
    return (rope, length) => {
      if (length <= known) return rope;
      const base = theta * ((factor * length) / known - (factor - 1)) ** (headDim / (headDim - 2));
      return { frequencies: rope.frequencies.map((_, i) => base ** ((-2 * i) / headDim)), factor: 1 };
    };
  },
  // Llama 3.1: long wavelengths are slowed down, short ones are not, and in between they pass from one to the
  // other.
  llama3: parameters => {
    const factor = parameters.number('factor');
    const low = parameters.number('low_freq_factor');
    const high = parameters.number('high_freq_factor');
    const known = parameters.integer('original_max_position_embeddings');
    return ({ frequencies }) => ({
      frequencies: frequencies.map(f => {
        const turns = (known * f) / (2 * Math.PI);
        if (turns > high) return f;
        if (turns < low) return f / factor;
        const share = (turns - low) / (high - low);
        return (1 - share) * (f / factor) + share * f;
      }),
      factor: 1,
    });
  },
  yarn: (parameters, shape) => yarn(parameters, shape),
};

/** YaRN (Peng et al. 2023, arXiv:2309.00071), equations 22, 23 and 25. */
function yarn(parameters: ConfigReader, { headDim, maxPositions, theta }: Scaled): (rope: Rope) => Rope {
  const known = parameters.integer('original_max_position_embeddings', maxPositions);
  const factor = parameters.number('factor', maxPositions / known);
  const fast = parameters.number('beta_fast', 32);
  const slow = parameters.number('beta_slow', 1);
  const truncate = parameters.flag('truncate', true);
  const temperature = (scale: number, multiplier = 1): number =>
    scale <= 1 ? 1 : 0.1 * multiplier * Math.log(scale) + 1;
  const mscale = parameters.number('mscale', 0);
  const mscaleAll = parameters.number('mscale_all_dim', 0);
  const standard =
    mscale !== 0 && mscaleAll !== 0
      ? temperature(factor, mscale) / temperature(factor, mscaleAll)
      : temperature(factor);
  const attentionFactor = parameters.number('attention_factor', standard);
  /** The pair that turns so often within the original length. */
  const pairOf = (turns: number): number =>
    (headDim * Math.log(known / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [from, to] = [pairOf(fast), pairOf(slow)];
  const first = Math.max(truncate ? Math.floor(from) : from, 0);
  const last = Math.min(truncate ? Math.ceil(to) : to, headDim - 1);
  const width = Math.max(last - first, 0.001);
  return ({ frequencies }) => ({
    frequencies: frequencies.map((f, i) => {
      const share = Math.min(Math.max((i - first) / width, 0), 1);
      return (f / factor) * share + f * (1 - share);
    }),
    factor: attentionFactor,
  });
}
