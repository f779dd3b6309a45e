import type { LoadedModules } from '../attention/modules/load-modules.ts';
import type { TileSelector, TileTarget } from '../attention/tiles/tile-choice.ts';
import type { KernelParts } from '../codegen/kernel-spec.ts';
import type { Capabilities } from '../device/capabilities/capabilities.ts';
import { CallMemo } from './call-memo.ts';
import { type EagerCall, type EagerRun, runCall } from './eager-call.ts';
import { GpuMemory, type MemorySettings } from './memory/gpu-memory.ts';
import { DevicePlan } from './plan/device-plan.ts';
import type { KernelPlan, PlanParts } from './plan/kernel-plan.ts';
import { planReasons } from './plan/plan-layout.ts';
import { PlanCache } from './plan-cache.ts';
import type { DeviceTiles } from './tile-kinds/device-tiles.ts';

/** The parts of a context that affect the kernels: their tiles, and the loaded modules. */
type ContextKernels = Pick<TileTarget, 'tiles'> & {
  readonly tileKinds?: DeviceTiles;
  readonly modules?: LoadedModules;
};

/** A GPU device, with this library's tensors and compiled kernels on the device. Made by `createContext`. */
export class GpuContext extends GpuMemory implements TileTarget {
  readonly tiles: TileSelector | undefined;
  /** The code of tiles that only some devices use, if it was loaded for this device. @internal */
  readonly tileKinds: DeviceTiles;
  /** The code of options that was loaded with the context: the option `load` of `createContext`. @internal */
  readonly modules: LoadedModules;
  readonly #calls = new CallMemo();
  readonly #plans = new PlanCache();

  /** Use `createContext`. @internal */
  constructor(device: GPUDevice, capabilities: Capabilities, settings: MemorySettings & ContextKernels) {
    super(device, capabilities, settings);
    this.tiles = settings.tiles;
    this.tileKinds = settings.tileKinds ?? {};
    this.modules = settings.modules ?? {};
  }

  /**
   * Makes a plan of kernels on this device. Plans are made by a method, so that the functions that describe
   * kernels do not import the code of plans.
   * @throws UnsupportedError if a single workgroup touches more of a tensor than the device can bind.
   * @internal
   */
  plan<Options>(parts: PlanParts<Options>): KernelPlan<Options> {
    return new DevicePlan(this, parts, this.modules.hints);
  }

  /** The features that the device lacks for such a plan; empty if the device can run the plan. @internal */
  planReasons(parts: KernelParts): string[] {
    return planReasons(parts, this.capabilities);
  }

  /**
   * Runs a plan: allocates the results, uploads operands from the host, records the kernels, and submits them
   * once they are compiled.
   * @throws InvalidArgumentError or UnsupportedError for an operand that is not a tensor of this context in
   * the required layout.
   * @internal
   */
  run<Options, Results>(call: EagerCall<Options, Results>): EagerRun<Results> {
    return runCall(this, this.#plans, call);
  }

  /**
   * A call that `make` checks and makes, or an earlier call like it with these tensors instead: see
   * `CallMemo`.
   * @internal
   */
  remembered<Options, Results>(
    tensors: object,
    options: object,
    make: () => EagerCall<Options, Results>,
  ): EagerCall<Options, Results> {
    return this.#calls.get(tensors, options, make);
  }
}
