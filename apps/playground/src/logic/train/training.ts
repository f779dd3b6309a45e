import type { EngineChoice, OpenedEngine } from '../../engine/tensor-engine.ts';

/** The model, the task and the options of a run: everything that a run depends on. */
export interface TrainSetup {
  readonly engine: EngineChoice;
  /** The task: to predict the next character of a text, or associative recall. */
  readonly text: string | null;
  readonly seed: number;
  readonly layers: number;
  readonly heads: number;
  readonly dim: number;
  readonly dropout: number;
}

/**
 * The characters that a text must have, because a sequence must fit into the tenth of the text that is held
 * out.
 */
export const fewestCharacters = 231;

/** Whether a run can begin: its text, if it has one, must be long enough. */
export const hasEnoughText = ({ text }: TrainSetup): boolean =>
  text === null || [...text].length >= fewestCharacters;

/** Setups with equal keys give the same losses. */
export const setupKey = (setup: TrainSetup): string => JSON.stringify(setup);

/** A request from the page to the worker. The worker answers between steps. */
export type TrainRequest =
  | { readonly kind: 'begin'; readonly setup: TrainSetup }
  /** Continues for the given number of steps, or until a pause is requested. */
  | { readonly kind: 'run'; readonly steps: number }
  | { readonly kind: 'pause' }
  | {
      readonly kind: 'sample';
      readonly prompt: string;
      readonly count: number;
      readonly temperature: number;
    };

/** The attention of a layer: (heads, S, S), each row a distribution. */
export interface LayerMaps {
  readonly heads: number;
  readonly S: number;
  readonly values: Float32Array;
}

/** Attention at a step, on a sequence that stays the same. */
export interface AttentionMoment {
  readonly step: number;
  readonly layers: readonly LayerMaps[];
}

/** An event that the worker sends. */
export type TrainEvent =
  | {
      readonly kind: 'ready';
      readonly opened: Omit<OpenedEngine, 'engine'>;
      readonly parameters: number;
      /** The characters whose attention is shown. */
      readonly probe: readonly string[];
    }
  | { readonly kind: 'step'; readonly loss: number; readonly accuracy: number; readonly ms: number }
  | { readonly kind: 'maps'; readonly moment: AttentionMoment }
  | { readonly kind: 'held out'; readonly step: number; readonly loss: number; readonly accuracy: number }
  | { readonly kind: 'paused' }
  /** The text that continues a prompt, so far. */
  | { readonly kind: 'sampled'; readonly prompt: string; readonly text: string; readonly done: boolean }
  /** The model has never seen these characters of a prompt. */
  | { readonly kind: 'refused'; readonly unknown: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string };

/** The number of steps between two records of attention, and between two measurements on held-out data. */
export const lookEvery = 20;
