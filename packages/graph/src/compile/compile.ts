import { type TensorDesc, UnsupportedError } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { InvalidGraphError } from '../errors.ts';
import { inferShapes } from '../ir/infer.ts';
import { describeNode, type GraphNode } from '../ir/node.ts';
import type { Program } from '../ir/program/program.ts';
import { type ProgramBuilder, programBuilder } from '../ir/program/program-builder.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { storageDesc } from '../ir/tensor/storage.ts';
import type { Topology } from '../ir/topology.ts';
import type { AttentionForm, Match } from '../passes/match.ts';
import { syntheticProblem } from './attention/step-call.ts';
import { lowerBackward } from './lower/attention-backward.ts';
import { lowerForward } from './lower/attention-forward.ts';
import type { Lowered, MatchLowering } from './lower/match-lowering.ts';
import { lowerAround } from './lower/surroundings.ts';
import { optimised } from './optimise/optimised.ts';

/** Operations to compile in order, with their inputs and outputs. */
export interface Operations {
  readonly nodes: readonly GraphNode[];
  readonly inputs: readonly LogicalTensor[];
  readonly outputs: readonly LogicalTensor[];
}

/** Operations and what they are recognised as. */
export interface Group extends Operations {
  readonly match: Match | null;
  /** The graph of the operations. */
  readonly topology: Topology;
}

/** A compiled group of operations. */
export interface CompiledProgram {
  readonly program: Program;
  /** `attention`: one attention call. `operations`: one operation after the other. */
  readonly kernel: 'attention' | 'operations';
  /** Why recognised attention does not run as one call. */
  readonly reasons: readonly string[];
  /** All tensors of the group with their shapes. */
  readonly tensors: ReadonlyMap<number, LogicalTensor>;
  /** The operations of an attention call one by one, for bound numbers that make something else of them. */
  readonly asOperations?: () => Program;
}

/**
 * Writes a group as a program for an engine.
 * @throws InvalidShapeError when shapes are unknown or do not fit; UnsupportedError when the engine cannot
 * run an attention operation.
 */
export function compileGroup(group: Group, engine: TensorEngine<TensorDesc>): CompiledProgram {
  const tensors = resolveShapes(group);
  const onDevice = engine.recording !== undefined;
  const reasons: string[] = [];
  if (group.match?.form) {
    const builder = programBuilder();
    const written = writeMatch(group, group.match.form, builder, tensors);
    if (written !== 'written') reasons.push(written.reason);
    else {
      const program = builder.build();
      reasons.push(...unsupported(program, engine));
      if (reasons.length === 0) {
        const asOperations = () => optimised(writeOperations(group, tensors), onDevice);
        return { program: optimised(program, onDevice), kernel: 'attention', reasons, tensors, asOperations };
      }
    }
  }
  const program = optimised(writeOperations(group, tensors), onDevice);
  const refused = unsupported(program, engine);
  // `Sdpa` and `SdpaBackward` have no other form.
  if (refused.length > 0) throw new UnsupportedError(engine.name, refused);
  return { program, kernel: 'operations', reasons, tensors };
}

/** All tensors of a group with their shapes. */
export function resolveShapes({ nodes, inputs, outputs }: Operations): Map<number, LogicalTensor> {
  const stated = new Map([...inputs, ...outputs].map(t => [t.id, t.shape] as const));
  const shapes = inferShapes(nodes, stated);
  const tensors = new Map<number, LogicalTensor>();
  for (const t of nodes.flatMap(node => [...node.inputs, ...node.outputs])) {
    tensors.set(t.id, { ...t, shape: shapes.get(t.id) ?? t.shape });
  }
  for (const t of [...inputs, ...outputs]) tensors.set(t.id, { ...t, shape: shapes.get(t.id) ?? t.shape });
  return tensors;
}

function bindEnds(
  { inputs, outputs }: Operations,
  builder: ProgramBuilder,
  tensors: ReadonlyMap<number, LogicalTensor>,
): void {
  for (const [kind, list] of [
    ['input', inputs],
    ['output', outputs],
  ] as const) {
    for (const { id } of list) {
      if (!builder.valueOf(id)) builder.bind(kind, id, storageDesc(tensorOf(tensors, id)));
    }
  }
}

function tensorOf(tensors: ReadonlyMap<number, LogicalTensor>, id: number): LogicalTensor {
  const tensor = tensors.get(id);
  if (!tensor) throw new InvalidGraphError(`tensor ${id} is not of this partition`);
  return tensor;
}

/** Writes what was recognised as attention as one call; says why where it cannot. */
export function writeMatch(
  group: Group,
  form: AttentionForm,
  builder: ProgramBuilder,
  tensors: ReadonlyMap<number, LogicalTensor>,
): Lowered {
  bindEnds(group, builder, tensors);
  const lowering: MatchLowering = {
    builder,
    value: id => {
      const value = builder.valueOf(id);
      if (!value) throw new InvalidGraphError(`tensor ${id} does not enter or leave this partition`);
      return value;
    },
    result: id => builder.valueOf(id) ?? builder.intermediate(id, denseDesc(tensorOf(tensors, id))),
    tensor: id => tensorOf(tensors, id),
    desc: id => denseDesc(tensorOf(tensors, id)),
  };
  if (form.pass === 'forward') return lowerForward(form.parts, lowering, group.topology);
  if (form.pass === 'backward') return lowerBackward(form.parts, lowering, group.topology);
  lowerAround([form.node], lowering);
  return 'written';
}

/** The description of a tensor, contiguous. */
export function denseDesc(tensor: LogicalTensor): TensorDesc {
  return storageDesc({ ...tensor, strides: null });
}

/**
 * Writes operations one after the other.
 * @param desc the description of a tensor inside the program.
 */
export function writeOperations(
  group: Operations,
  tensors: ReadonlyMap<number, LogicalTensor>,
  desc: (tensor: LogicalTensor) => TensorDesc = denseDesc,
): Program {
  const builder = programBuilder();
  bindEnds(group, builder, tensors);
  const valueFor = ({ id }: LogicalTensor) =>
    builder.valueOf(id) ?? builder.intermediate(id, desc(tensorOf(tensors, id)));
  for (const node of group.nodes) {
    if (node.kind === 'End') continue;
    if (!node.operation.lower) throw new InvalidGraphError(`${describeNode(node)} cannot run`);
    const call = {
      attributes: node.attributes,
      inputs: node.inputs.map(t => tensorOf(tensors, t.id)),
      outputs: node.outputs.map(t => tensorOf(tensors, t.id)),
    };
    node.operation.lower(builder.lowering(node.inputs.map(valueFor), node.outputs.map(valueFor)), call);
  }
  return builder.build();
}

/** Why an engine cannot run the attention calls of a program. */
function unsupported({ steps, values }: Program, engine: TensorEngine<TensorDesc>): readonly string[] {
  const desc = (n: number): TensorDesc => values[n].desc;
  return steps.flatMap(step =>
    step.kind === 'primitive' ? [] : engine.checkSupport(syntheticProblem(step, desc)).reasons,
  );
}
