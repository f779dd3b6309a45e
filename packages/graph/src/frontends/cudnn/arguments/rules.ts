import {
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
  nearestName,
} from '@tilewise/core';
import type { Graph } from '../../../graph.ts';
import { checkGraph } from '../../../ir/check-graph.ts';
import { checkNames } from '../../../ir/check-names.ts';
import { describeTensor, isKnown, type LogicalTensor } from '../../../ir/tensor/logical-tensor.ts';
import { type AnyArguments, argumentNames, isTensor } from './arguments.ts';

type Arguments = AnyArguments<LogicalTensor>;

/** One of cuDNN's rules about arguments. `broken` returns what is wrong, or null. */
interface Rule {
  readonly argument: string;
  readonly error?: 'shape' | 'dtype';
  readonly broken: (args: Arguments) => string | null;
}

const headsOf = ({ shape }: LogicalTensor): number => shape?.[1] ?? -1;

function integerRule(argument: keyof Arguments, least: number): Rule {
  return {
    argument,
    broken: args => {
      const n = args[argument];
      const isRight = n === undefined || (Number.isInteger(n) && Number(n) >= least);
      return isRight ? null : `must be an integer ≥ ${least}, got ${String(n)}`;
    },
  };
}

/** Requires four dimensions, or three for a packed tensor. */
function rankRule(argument: 'q' | 'k' | 'v' | 'o' | 'dO'): Rule {
  return {
    argument,
    error: 'shape',
    broken: args => {
      const t = args[argument];
      if (t === undefined || t.shape === null || t.shape.length === 4) return null;
      const cumulative = argument === 'k' || argument === 'v' ? args.cuSeqLenKv : args.cuSeqLenQ;
      const isPacked = cumulative !== undefined || args.raggedOffsets?.[argument] !== undefined;
      if (t.shape.length === 3 && isPacked) return null;
      return `must be (B, H, S, D), or packed (T, H, D) by ragged offsets or cumulative lengths, got tensor ${describeTensor(t)}`;
    },
  };
}

/** Requires a number of heads that divides the number of query heads. */
function headsRule(argument: 'k' | 'v'): Rule {
  return {
    argument,
    error: 'shape',
    broken: args => {
      const [Hq, H] = [headsOf(args.q), headsOf(args[argument])];
      const fits = Hq < 0 || H < 0 || (H > 0 && Hq % H === 0);
      return fits ? null : `must have a number of heads that divides the ${Hq} of q, got ${H}`;
    },
  };
}

function scalarRule(argument: string, of: (args: Arguments) => unknown): Rule {
  return {
    argument,
    error: 'shape',
    broken: args => {
      const t = of(args);
      if (!isTensor(t) || !isKnown(t.shape) || t.shape.every(n => n === 1)) return null;
      return `must hold one number, got tensor ${describeTensor(t)}`;
    },
  };
}

function lengthRules(side: 'Q' | 'Kv'): readonly Rule[] {
  const lengths = `seqLen${side}` as const;
  const cumulative = `cuSeqLen${side}` as const;
  return [
    {
      argument: lengths,
      broken: args =>
        args.usePaddingMask && !args[lengths] && !args[cumulative]
          ? `or ${cumulative} must be given with usePaddingMask`
          : null,
    },
    {
      argument: lengths,
      broken: args => {
        const given = args[lengths] ?? args[cumulative];
        return given && !args.usePaddingMask && !args.scoreMod
          ? `and ${cumulative} are for usePaddingMask (or a scoreMod), got tensor ${describeTensor(given)}`
          : null;
      },
    },
    {
      argument: cumulative,
      broken: args => (args[lengths] && args[cumulative] ? `cannot be combined with ${lengths}` : null),
    },
  ];
}

const isPaged = (args: Arguments): boolean =>
  args.pagedAttentionKTable !== undefined || args.pagedAttentionVTable !== undefined;

/**
 * cuDNN's rules about combinations of arguments, without limits of chips, versions and kernels: engines have
 * their own limits, which `compile` reports.
 */
const rules: readonly Rule[] = [
  ...(['q', 'k', 'v', 'o', 'dO'] as const).map(rankRule),
  headsRule('k'),
  headsRule('v'),
  {
    argument: 'attnScale',
    broken: ({ attnScale: x }) =>
      x === undefined || isTensor(x) || (typeof x === 'number' && Number.isFinite(x))
        ? null
        : `must be a finite number or a tensor of one, got ${String(x)}`,
  },
  scalarRule('attnScale', args => args.attnScale),
  {
    argument: 'bias',
    error: 'dtype',
    broken: ({ bias }) =>
      bias?.dtype === 'bool'
        ? `must not be bool, because it is added to scores, got tensor ${describeTensor(bias)}`
        : null,
  },
  ...lengthRules('Q'),
  ...lengthRules('Kv'),
  {
    argument: 'raggedOffsets',
    broken: args => (args.raggedOffsets && !args.usePaddingMask ? 'needs usePaddingMask' : null),
  },
  {
    argument: 'dropout',
    broken: ({ dropout }) => {
      if (dropout === undefined) return null;
      if (Array.isArray(dropout) && dropout.length === 2 && isTensor(dropout[0])) return null;
      const [p] = Array.isArray(dropout) ? dropout : [];
      if (typeof p !== 'number' || dropout.length !== 3)
        return 'must be either [p, seed, offset] or [mask, scale]';
      return p >= 0 && p < 1 ? null : `must have a probability in [0, 1), got ${p}`;
    },
  },
  {
    argument: 'dropout',
    broken: ({ dropout }) => {
      const numbers = dropout?.slice(1) ?? [];
      return numbers.every(isTensor) ? null : 'must have tensors after p or mask: seed and offset, or scale';
    },
  },
  scalarRule('dropout', ({ dropout }) => dropout?.[1]),
  scalarRule('dropout', ({ dropout }) => dropout?.[2]),
  {
    argument: 'diagonalAlignment',
    broken: ({ diagonalAlignment: align = 'top-left' }) =>
      align === 'top-left' || align === 'bottom-right'
        ? null
        : `must be top-left or bottom-right, got ${align}`,
  },
  integerRule('diagonalBandLeftBound', 1),
  integerRule('diagonalBandRightBound', 0),
  {
    argument: 'pagedAttentionKTable',
    broken: args =>
      isPaged(args) && !args.usePaddingMask
        ? 'needs usePaddingMask with the lengths of queries and keys, which a page table does not contain'
        : null,
  },
  integerRule('pagedAttentionMaxSeqLenKv', 1),
  {
    argument: 'pagedAttentionMaxSeqLenKv',
    broken: args =>
      args.pagedAttentionMaxSeqLenKv !== undefined && !isPaged(args)
        ? `needs a page table, got ${args.pagedAttentionMaxSeqLenKv} without one`
        : null,
  },
  {
    argument: 'bias',
    error: 'shape',
    broken: ({ bias, pagedAttentionMaxSeqLenKv: most }) => {
      const keys = bias?.shape?.at(-1);
      if (bias === undefined || most === undefined || keys === undefined || keys <= 1 || keys === most)
        return null;
      return `must be for pagedAttentionMaxSeqLenKv = ${most} keys, got tensor ${describeTensor(bias)}`;
    },
  },
  {
    argument: 'rngDump',
    broken: ({ rngDump, dropout }) =>
      rngDump && dropout?.length !== 3
        ? 'needs a dropout of [p, seed, offset], because it returns the mask that they draw'
        : null,
  },
  {
    argument: 'dBias',
    broken: ({ dBias, bias }) => (dBias && !bias ? 'needs a bias' : null),
  },
  {
    argument: 'dSinkToken',
    broken: ({ dSinkToken, sinkToken }) => (dSinkToken && !sinkToken ? 'needs a sinkToken' : null),
  },
  {
    argument: 'implementation',
    broken: ({ implementation: i = 'auto' }) =>
      ['auto', 'composite', 'unified'].includes(i) ? null : `must be auto, composite or unified, got ${i}`,
  },
];

/** The tensors that every forward or backward node needs. */
const forwardTensors = ['q', 'k', 'v'] as const;
const backwardTensors = ['q', 'k', 'v', 'o', 'dO', 'stats'] as const;

/** The arguments that replace deprecated arguments of cuDNN. */
const equivalents: Readonly<Record<string, string>> = {
  useCausalMask: 'diagonalBandRightBound: 0',
  useCausalMaskBottomRight: "diagonalAlignment: 'bottom-right', diagonalBandRightBound: 0",
  slidingWindowLength: 'diagonalBandLeftBound',
  isInference: 'generateStats: !isInference',
};

const errors = { argument: InvalidArgumentError, shape: InvalidShapeError, dtype: InvalidDTypeError };

/**
 * Checks the arguments of a node.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError for the first rule that does not hold,
 * naming the argument.
 */
export function checkArguments(graph: Graph, args: Arguments, node: keyof typeof argumentNames): void {
  checkGraph('graph', graph);
  const names = argumentNames[node];
  for (const name of Object.keys({ ...args })) {
    const meant = equivalents[nearestName(name, [...names, ...Object.keys(equivalents)]) ?? ''];
    if (meant) throw new InvalidArgumentError('args', `has no '${name}'; did you mean '${meant}'?`);
  }
  checkNames('args', args, names);
  const tensors = node.endsWith('Backward') ? backwardTensors : forwardTensors;
  for (const name of tensors)
    if (!isTensor(args[name]))
      throw new InvalidArgumentError(name, `must be a tensor of the graph, got ${describeValue(args[name])}`);
  for (const { argument, error = 'argument', broken } of rules) {
    const wrong = broken(args);
    if (wrong !== null) throw new errors[error](argument, wrong);
  }
}
