/**
 * Which loop is the outer one: over queries (FlashAttention-2) or over keys and values (FlashAttention-1).
 */
export type LoopOrder = 'inner-product' | 'outer-product';

/** Tiles moved between slow and fast memory. */
export interface Traffic {
  readonly loadsQ: number;
  /** Loads of a tile of k together with the same tile of v: two tiles each. */
  readonly loadsKv: number;
  readonly loadsO: number;
  readonly storesO: number;
}

/**
 * One visit: query tile i meets key tile j; the traffic of this visit, and the total traffic since the start.
 */
export interface Visit {
  readonly i: number;
  readonly j: number;
  readonly moved: Traffic;
  readonly traffic: Traffic;
}

const none: Traffic = { loadsQ: 0, loadsKv: 0, loadsO: 0, storesO: 0 };

function sum(a: Traffic, b: Traffic): Traffic {
  return {
    loadsQ: a.loadsQ + b.loadsQ,
    loadsKv: a.loadsKv + b.loadsKv,
    loadsO: a.loadsO + b.loadsO,
    storesO: a.storesO + b.storesO,
  };
}

/**
 * The visits of n query tiles to n key tiles in order. `slots` query tiles keep their output in fast memory
 * for the whole run of the outer-product order; with n slots, the traffic for o equals that of the
 * inner-product order.
 */
export function visits(order: LoopOrder, n: number, slots = 0): Visit[] {
  const result: Visit[] = [];
  for (let outer = 0; outer < n; outer++) {
    for (let inner = 0; inner < n; inner++) {
      const [i, j] = order === 'inner-product' ? [outer, inner] : [inner, outer];
      // An output stays in fast memory while its query is in the outer loop, or if it has a slot.
      const stays = order === 'inner-product' || i < slots;
      const [first, last] = [j === 0, j === n - 1];
      const moved: Traffic = {
        loadsQ: order === 'outer-product' || inner === 0 ? 1 : 0,
        loadsKv: order === 'inner-product' || inner === 0 ? 1 : 0,
        loadsO: !stays || first ? 1 : 0,
        storesO: !stays || last ? 1 : 0,
      };
      result.push({ i, j, moved, traffic: sum(result.at(-1)?.traffic ?? none, moved) });
    }
  }
  return result;
}

/** The traffic of a whole schedule. */
export function totalTraffic(order: LoopOrder, n: number, slots = 0): Traffic {
  return visits(order, n, slots).at(-1)?.traffic ?? none;
}

/** All tiles of a traffic, in either direction. */
export function tilesMoved({ loadsQ, loadsKv, loadsO, storesO }: Traffic): number {
  return loadsQ + 2 * loadsKv + loadsO + storesO;
}
