/** Which loop is the outer one: over queries (FlashAttention-2) or over keys and values (FlashAttention-1). */
export type LoopOrder = 'inner-product' | 'outer-product';

/** Tiles moved between slow and fast memory so far. */
export interface Traffic {
  readonly loadsQ: number;
  readonly loadsKv: number;
  readonly loadsO: number;
  readonly storesO: number;
}

/** One visit: query tile i meets key tile j, and what that moved. */
export interface Visit {
  readonly i: number;
  readonly j: number;
  readonly traffic: Traffic;
}

/**
 * The visits of n query tiles to n key tiles in order, with the traffic up to and including each. `slots` query tiles keep their
 * output in fast memory for the whole run of the outer-product order; with all n the inner-product traffic for o is reached.
 */
export function visits(order: LoopOrder, n: number, slots = 0): Visit[] {
  const result: Visit[] = [];
  let traffic: Traffic = { loadsQ: 0, loadsKv: 0, loadsO: 0, storesO: 0 };
  for (let outer = 0; outer < n; outer++) {
    for (let inner = 0; inner < n; inner++) {
      const [i, j] = order === 'inner-product' ? [outer, inner] : [inner, outer];
      // An output stays while its query is in the outer loop, or in a slot of its own.
      const stays = order === 'inner-product' || i < slots;
      const [first, last] = [j === 0, j === n - 1];
      traffic = {
        loadsQ: traffic.loadsQ + (order === 'outer-product' || inner === 0 ? 1 : 0),
        loadsKv: traffic.loadsKv + (order === 'inner-product' || inner === 0 ? 1 : 0),
        loadsO: traffic.loadsO + (!stays || first ? 1 : 0),
        storesO: traffic.storesO + (!stays || last ? 1 : 0),
      };
      result.push({ i, j, traffic });
    }
  }
  return result;
}

/** The traffic of a whole schedule. */
export function totalTraffic(order: LoopOrder, n: number, slots = 0): Traffic {
  return visits(order, n, slots).at(-1)?.traffic ?? { loadsQ: 0, loadsKv: 0, loadsO: 0, storesO: 0 };
}
