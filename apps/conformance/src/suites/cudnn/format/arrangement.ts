import type { StrideName } from './case-format.ts';

/** How q, k, v and o lie in memory, each as an order of dimensions; and which of them are packed. */
export interface NamedLayout {
  readonly orders: Readonly<Record<StrideName, string>>;
  readonly packed: string;
}

const tensorNames: readonly StrideName[] = ['q', 'k', 'v', 'o'];

/** Names that say less than they mean, or the same in other words. */
const synonyms: Readonly<Record<string, string>> = {
  'bs3hd(t3hd)': 'bs3hd',
  'ragged thd q/o': 'q,o thd; k,v bshd',
};

/**
 * Reads the name of a layout: dimensions from the outermost in memory, `t` standing for sequences packed
 * behind each other. A `3` in it says where q, k and v alternate, a `2` where k and v do. One order is for
 * all tensors (`sbh3d`), two are for q and for k and v (`bshd_bs2hd`), three for each (`thd_bshd_bshd`); or
 * each says whose it is (`q,o thd; k,v bshd`). o lies as q does, by itself.
 * @throws Error when it is something else.
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

/** Null when a tensor has no order, or one that is none. */
function complete(orders: Partial<Record<StrideName, string>>): Record<StrideName, string> | null {
  const { q = '', k = '', v = '', o = q.replace(/[23]/, '') } = orders;
  const all = { q, k, v, o };
  return tensorNames.every(name => isOrder(all[name], name)) ? all : null;
}

/** Whether these are the dimensions in some order, with a place to alternate outside one of them at most. */
function isOrder(order: string, name: StrideName): boolean {
  const dimensions = [...order.replace(/[23](?=.)/, '')].sort().join('');
  if (dimensions !== 'bdhs' && dimensions !== 'dht') return false;
  return order.includes('3') ? name !== 'o' : !order.includes('2') || name === 'k' || name === 'v';
}
