import { type Support, type TensorDesc, UnsupportedError } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { SerialQueue } from '../../../runtime/serial-queue.ts';
import type { D256Gradients, D256Options, D256Tensors } from './call.ts';
import { buildD256, type D256Built } from './graph.ts';
import { checkD256, checkScale } from './rules.ts';

type Samples<T> = D256Tensors<T> & D256Gradients<T>;

/**
 * The gradients of attention for heads of 256, like cuDNN's class `SdpabwdSm100D256`: create it with sample
 * tensors, check support, compile, and execute any number of times on tensors with the same layouts.
 */
export class SdpaBackwardD256<T extends TensorDesc> {
  readonly #engine: TensorEngine<T>;
  readonly #samples: Samples<T>;
  readonly #options: D256Options;
  readonly #turns = new SerialQueue('SdpaBackwardD256');
  #built: Promise<D256Built<T>> | undefined;

  /** @throws InvalidShapeError, InvalidDTypeError or InvalidArgumentError naming the sample or option. */
  constructor(engine: TensorEngine<T>, samples: Samples<T>, options: D256Options = {}) {
    checkD256(samples, options);
    this.#engine = engine;
    this.#samples = samples;
    this.#options = options;
  }

  /**
   * Whether the engine supports the call, and the reasons if not.
   * @throws InvalidArgumentError for bounds that the lengths of the samples do not allow.
   */
  async checkSupport(): Promise<Support> {
    try {
      await this.compile();
      return { supported: true, reasons: [] };
    } catch (error) {
      if (error instanceof UnsupportedError) return { supported: false, reasons: error.reasons };
      throw error;
    }
  }

  /**
   * Compiles the kernels.
   * @throws UnsupportedError when the engine cannot run the call; InvalidArgumentError like `checkSupport`,
   * and after `release`.
   */
  async compile(): Promise<void> {
    this.#turns.check();
    await this.#ready();
  }

  /**
   * Computes the gradients for tensors with the layouts of the samples; compiles first if needed.
   * @param scaleSoftmax replaces the scale given to the constructor.
   * @throws InvalidArgumentError for a scale that is not finite, and after `release`.
   */
  async execute(
    tensors: Samples<T>,
    { scaleSoftmax }: Pick<D256Options, 'scaleSoftmax'> = {},
  ): Promise<void> {
    checkScale(scaleSoftmax);
    await this.#turns.run(async () => {
      const { run } = await this.#ready();
      const { dq, dk, dv } = tensors;
      await run(tensors, { dq, dk, dv }, scaleSoftmax ?? this.#options.scaleSoftmax);
    });
  }

  /** Frees the compiled graph once pending calls are done. The object cannot be used afterwards. */
  release(): void {
    this.#turns.release(() => {
      this.#built?.then(
        ({ release }) => release(),
        () => undefined,
      );
    });
  }

  #ready(): Promise<D256Built<T>> {
    this.#built ??= buildD256(this.#engine, this.#samples, this.#samples, this.#options).catch(error => {
      // A later call may succeed.
      this.#built = undefined;
      throw error;
    });
    return this.#built;
  }
}

/**
 * Computes the gradients of attention for heads of 256 in one call, like cuDNN's
 * `sdpa_bwd_wrapper_sm100_d256`. The gradients are returned by name, and iterate in the order dq, dk, dv.
 * @throws InvalidShapeError, InvalidDTypeError or InvalidArgumentError naming the tensor or option;
 * UnsupportedError when the engine cannot run the call.
 */
export async function sdpaBackwardD256<T extends TensorDesc>(
  engine: TensorEngine<T>,
  tensors: D256Tensors<T>,
  options: D256Options = {},
): Promise<readonly [dq: T, dk: T, dv: T] & D256Gradients<T>> {
  checkD256(tensors, options);
  const { run } = await buildD256(engine, tensors, null, options);
  const { dq, dk, dv } = await run(tensors, null, options.scaleSoftmax);
  return Object.assign([dq, dk, dv] as const, { dq, dk, dv });
}
