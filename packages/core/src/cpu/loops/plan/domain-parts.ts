import { binary, constant, select, unary } from '../../../expr/nodes/create-node.ts';
import type { Expr, LoadExpr } from '../../../expr/nodes/expr.ts';
import { binaryFunction } from '../../../expr/nodes/operators.ts';
import { nodes, withOperands } from '../../../expr/nodes/walk.ts';

/** A box within a domain: the index of its first element, and its extents. */
export interface DomainPart {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** An i32 that is coordinate `d` of the element plus an offset, or only the offset if `d` is null. */
export interface ShiftedCoordinate {
  readonly d: number | null;
  readonly offset: number;
}

/** The maximum number of parts that a domain is divided into; each takes one run of a loop. */
const MAX_PARTS = 8;

/**
 * The parts of a domain within which comparisons of a coordinate with a constant have a fixed value;
 * concatenated and padded tensors contain such comparisons. Returns the whole domain if there are none, or
 * too many.
 */
export function domainParts(expr: Expr, domain: readonly number[]): DomainPart[] {
  const shifted = shiftedCoordinates(expr);
  const cuts = domain.map(extent => new Set([0, extent]));
  for (const e of nodes(expr)) {
    const compared = comparisonOf(e, shifted);
    if (!compared || compared.d === null) continue;
    const { d, at, holds } = compared;
    for (const cut of [at, at + 1]) {
      if (cut > 0 && cut < domain[d] && holds(cut - 1) !== holds(cut)) cuts[d].add(cut);
    }
  }
  const count = cuts.reduce((product, { size }) => product * (size - 1), 1);
  const whole = { start: domain.map(() => 0), shape: domain };
  if (count > MAX_PARTS || domain.includes(0)) return [whole];
  return cuts.reduce<DomainPart[]>(
    (parts, own) => {
      const sorted = [...own].sort((a, b) => a - b);
      return parts.flatMap(({ start, shape }) =>
        sorted.slice(1).map((end, n) => ({
          start: [...start, sorted[n]],
          shape: [...shape, end - sorted[n]],
        })),
      );
    },
    [{ start: [], shape: [] }],
  );
}

/**
 * An expression restricted to a part of the domain. Comparisons with a fixed value are decided. `replaceLoad`
 * may replace a load: it gets the load's indices, each as a coordinate of the domain plus an offset, or null
 * for other indices.
 */
export function exprWithin(
  expr: Expr,
  { start, shape }: DomainPart,
  replaceLoad: (e: LoadExpr, index: readonly (ShiftedCoordinate | null)[]) => Expr | null,
): Expr {
  const shifted = shiftedCoordinates(expr);
  const made = new Map<Expr, Expr>();
  const replaced = (e: Expr): Expr => made.get(e) ?? e;

  /** Folds booleans only: arithmetic on constants must round in the loop like all other arithmetic. */
  function within(e: Expr): Expr {
    if (e.kind === 'select')
      return select(replaced(e.condition), replaced(e.whenTrue), replaced(e.whenFalse));
    if (e.kind === 'unary' && e.op === 'not') return unary('not', replaced(e.a));
    if (e.kind === 'binary' && e.type === 'bool') {
      const decided = decide(e);
      return decided === null ? logicOf(e) : constant(decided);
    }
    if (e.kind !== 'load') return withOperands(e, replaced);
    if (e.name !== 'coordinate')
      return (
        replaceLoad(
          e,
          e.index.map(x => shifted.get(x) ?? null),
        ) ?? withOperands(e, replaced)
      );
    const d = coordinateOf(e);
    return start[d] === 0 ? e : binary('add', e, constant(start[d], 'i32'));
  }

  /** The value of a comparison, if it is the same throughout the part; null if it depends on the element. */
  function decide(e: Expr): boolean | null {
    const compared = comparisonOf(e, shifted);
    if (!compared) return null;
    const { d, at, holds } = compared;
    if (d === null) return holds(0);
    const [first, last] = [start[d], start[d] + shape[d] - 1];
    const values = [holds(first), holds(last), ...(at > first && at < last ? [holds(at)] : [])];
    return values.every(value => value === values[0]) ? values[0] : null;
  }

  /** An `and` or `or` with one known operand becomes the other operand, or the known one. */
  function logicOf(e: Extract<Expr, { kind: 'binary' }>): Expr {
    const { op } = e;
    const [x, y] = [replaced(e.a), replaced(e.b)];
    const known = [x, y].find(({ kind }) => kind === 'constant');
    if (known?.kind !== 'constant' || (op !== 'and' && op !== 'or')) return withOperands(e, replaced);
    return (known.value === 1) === (op === 'and') ? (known === x ? y : x) : known;
  }

  for (const e of nodes(expr)) made.set(e, within(e));
  return replaced(expr);
}

/** The dimension of a coordinate that is loaded. */
function coordinateOf({ index: [d] }: LoadExpr): number {
  return d.kind === 'constant' ? Number(d.value) : 0;
}

/** The nodes that are a coordinate plus an offset, or an offset alone. */
function shiftedCoordinates(expr: Expr): Map<Expr, ShiftedCoordinate> {
  const shifted = new Map<Expr, ShiftedCoordinate>();
  for (const e of nodes(expr)) {
    const own = e.type === 'i32' ? shiftedCoordinateOf(e, shifted) : null;
    if (own) shifted.set(e, own);
  }
  return shifted;
}

function shiftedCoordinateOf(
  e: Expr,
  shifted: ReadonlyMap<Expr, ShiftedCoordinate>,
): ShiftedCoordinate | null {
  if (e.kind === 'constant') return { d: null, offset: Number(e.value) };
  if (e.kind === 'load') return e.name === 'coordinate' ? { d: coordinateOf(e), offset: 0 } : null;
  if (e.kind !== 'binary') return null;
  const [a, b] = [shifted.get(e.a), shifted.get(e.b)];
  if (!a || !b) return null;
  const [shift, base] = a.d === null ? [a.offset, b] : [b.offset, a];
  if (e.op === 'add' && (a.d === null || b.d === null)) return { d: base.d, offset: base.offset + shift };
  if (b.d !== null) return null;
  if (e.op === 'sub') return { d: a.d, offset: a.offset - b.offset };
  if (b.offset !== 1) return null;
  if (e.op === 'mul' || e.op === 'floorDiv') return a;
  return e.op === 'mod' ? { d: null, offset: 0 } : null;
}

/** A comparison of a coordinate with a constant, or of two constants. */
interface Comparison {
  /** Null if both are constants. */
  readonly d: number | null;
  /**
   * The coordinate at which both sides are equal; left of it, and right of it, the comparison has a fixed
   * value.
   */
  readonly at: number;
  holds(coordinate: number): boolean;
}

function comparisonOf(e: Expr, shifted: ReadonlyMap<Expr, ShiftedCoordinate>): Comparison | null {
  if (e.kind !== 'binary' || e.type !== 'bool') return null;
  const [a, b] = [shifted.get(e.a), shifted.get(e.b)];
  if (!a || !b || (a.d !== null && b.d !== null)) return null;
  const compare = binaryFunction(e.op, e.type);
  const value = ({ d: own, offset }: ShiftedCoordinate, at: number): number =>
    own === null ? offset : at + offset;
  return {
    d: a.d ?? b.d,
    at: a.d === null ? a.offset - b.offset : b.offset - a.offset,
    holds: at => compare(value(a, at), value(b, at)) === 1,
  };
}
