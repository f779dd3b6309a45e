import type { Tensor } from '@tilewise/core';
import { Graph, type OneDnnGraph } from '@tilewise/graph';
import { type Batch, batchOf, entryGraph } from '../rewrite/batch.ts';
import { MinStd } from './fill.ts';

export type TensorsById = Readonly<Record<number, Tensor>>;

/** A graph with its inputs and results. */
export interface Part {
  readonly graph: Graph;
  readonly inputs: TensorsById;
  readonly results: TensorsById;
}

/** Entries of a batch: the last one, and others drawn at random, the same in every run. */
export interface DrawnEntries {
  readonly batch: Batch;
  readonly drawn: readonly number[];
}

/**
 * Entries of a graph's batch that take at most `most` GFLOP together, at least one; null if the whole batch
 * does, or if the graph has no batch.
 */
export function drawnEntries(graph: Graph, gflop: number, most: number): DrawnEntries | null {
  const batch = gflop > most ? batchOf(graph) : null;
  if (!batch) return null;
  const random = new MinStd(batch.extent);
  // Errors that appear far from the start of a tensor, such as an overflowing offset, appear in the last
  // entry.
  const last = batch.extent - 1;
  const left = Array.from({ length: last }, (_, n) => n);
  const others = Math.max(Math.floor((batch.extent * most) / gflop), 1) - 1;
  return {
    batch,
    drawn: [
      last,
      ...Array.from({ length: others }, () => left.splice(random.integer(0, left.length - 1), 1)[0]),
    ],
  };
}

/** The entries as separate graphs, over views of the tensors. */
export function entriesOf(
  stored: OneDnnGraph,
  { outputs }: Graph,
  { batch, drawn }: DrawnEntries,
  inputs: TensorsById,
  results: TensorsById,
): Part[] {
  const { dimension, extent, rank } = batch;
  const graph = Graph.fromJSON(entryGraph(stored, batch)).finalize();
  const entry = (tensors: TensorsById, n: number): TensorsById =>
    Object.fromEntries(
      Object.entries(tensors).map(([id, t]) => [
        id,
        t.rank === rank && t.shape[dimension] === extent ? t.slice(dimension, n, n + 1) : t,
      ]),
    );
  const given = Object.fromEntries(outputs.map(t => [t.id, results[t.id]]));
  return drawn.map(n => ({ graph, inputs: entry(inputs, n), results: entry(given, n) }));
}
