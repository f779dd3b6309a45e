import type { StrideName } from './case-format.ts';

/** The memory order of the dimensions of q, k, v and o, and which of them are packed. */
export interface NamedLayout {
  readonly orders: Readonly<Record<StrideName, string>>;
  readonly packed: string;
}

const tensorNames: readonly StrideName[] = ['q', 'k', 'v', 'o'];

/** Incomplete or alternative names of layouts. */
const synonyms: Readonly<Record<string, string>> = {
  'bs3hd(t3hd)': 'bs3hd',
  'ragged thd q/o': 'q,o thd; k,v bshd',
};

/**
 * Parses the name of a layout: the dimensions from the outermost in memory, with `t` for packed sequences. A
 * `3` marks where q, k and v alternate, a `2` where k and v do. One order applies to all tensors (`sbh3d`),
 * two to q and to k and v (`bshd_bs2hd`), three to each (`thd_bshd_bshd`); or each order names its tensors
 * (`q,o thd; k,v bshd`). o has the layout of q, without neighbours.
 * @throws Error if the name is not a layout.
 */
export function namedLayout(name: string): NamedLayout {
  const text = name.trim().toLowerCase();
  const orders = ordersOf(synonyms[text] ?? text);
  if (!orders) throw new Error(`the layout ${name} is not known`);
  const packed = tensorNames.filter(tensor => orders[tensor].includes('t')).join('');
  const unpacked = Object.entries(orders).map(([tensor, order]) => [tensor, order.replace('t', 'bs')]);
  return { orders: Object.fromEntries(unpacked), packed };
}

function ordersOf(text: string): Record<StrideName, string> | null {
  const clauses = text
    .split(';')
    .map(clause => /^([qkvo, ]+) (\S+)(?: chunk| in fwd samples)?$/.exec(clause.trim()));
  if (clauses.every(clause => clause !== null)) {
    const orders: Partial<Record<StrideName, string>> = {};
    for (const [, names, order] of clauses)
      for (const name of tensorNames) if (names.includes(name)) orders[name] = order;
    return complete(orders);
  }
  const [q, k = q, v = k, ...more] = text.split('_');
  return more.length > 0 ? null : complete({ q, k, v });
}

/** Completes the orders; null if a tensor has no order or an invalid one. */
function complete(orders: Partial<Record<StrideName, string>>): Record<StrideName, string> | null {
  const { q = '', k = '', v = '', o = q.replace(/[23]/, '') } = orders;
  const all = { q, k, v, o };
  return tensorNames.every(name => isOrder(all[name], name)) ? all : null;
}

/** Whether an order names each dimension once, with at most one mark for alternating tensors. */
function isOrder(order: string, name: StrideName): boolean {
  const dimensions = [...order.replace(/[23](?=.)/, '')].sort().join('');
  if (dimensions !== 'bdhs' && dimensions !== 'dht') return false;
  return order.includes('3') ? name !== 'o' : !order.includes('2') || name === 'k' || name === 'v';
}
