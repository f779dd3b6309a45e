import type { KernelPlan } from './plan/kernel-plan.ts';

/**
 * More plans than a program normally has. Beyond this number, the least recently used plan is destroyed; its
 * pipelines stay.
 */
const maxPlans = 256;

/** Plans by key, the most recently used last. */
export class PlanCache {
  readonly #plans = new Map<string, KernelPlan<never>>();
  /** The plan of the last call, which is already the last in the map. */
  #newest: KernelPlan<never> | undefined;

  /** The plan with a key, made if the cache has none. The key determines the type of the plan's options. */
  get<Options>(key: string, make: () => KernelPlan<Options>): KernelPlan<Options> {
    const known = this.#plans.get(key) as KernelPlan<Options> | undefined;
    const plan = known ?? make();
    if (plan === this.#newest) return plan;
    this.#newest = plan;
    this.#plans.delete(key);
    this.#plans.set(key, plan);
    const [[oldest, unused]] = this.#plans;
    if (this.#plans.size > maxPlans) {
      unused.destroy();
      this.#plans.delete(oldest);
    }
    return plan;
  }
}
