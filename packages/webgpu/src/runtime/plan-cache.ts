import type { KernelPlan } from './plan/kernel-plan.ts';

/**
 * More plans than a program normally has. Beyond that, the plan that was used longest ago is destroyed; its
 * pipelines stay.
 */
const maxPlans = 256;

/** Plans by key, those used last at the end. */
export class PlanCache {
  readonly #plans = new Map<string, KernelPlan<never>>();

  /** The plan of a key, made where there is none. A key decides which options its plan takes. */
  get<Options>(key: string, make: () => KernelPlan<Options>): KernelPlan<Options> {
    const plan = (this.#plans.get(key) as KernelPlan<Options> | undefined) ?? make();
    this.#plans.delete(key);
    this.#plans.set(key, plan);
    const [oldest] = this.#plans.keys();
    if (this.#plans.size > maxPlans && oldest !== undefined) {
      this.#plans.get(oldest)?.destroy();
      this.#plans.delete(oldest);
    }
    return plan;
  }
}
