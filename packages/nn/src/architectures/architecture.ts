import type { Variable } from '@tilewise/graph/ops';
import type { ConfigReader } from '../files/config/config-reader.ts';
import type { DecoderTable } from './transformer/decoder.ts';
import type { Scope } from './transformer/scope.ts';

/** The tensors of a batch of texts. */
export interface TextInputs {
  /** i32 (B, S) */
  readonly tokens: Variable;
  /** i32 (B): tokens of each sequence before its padding. */
  readonly lengths?: Variable | undefined;
  /** i32 (B, S), for models that distinguish segments of a text. */
  readonly tokenTypes?: Variable | undefined;
}

/** The inputs of a model: tokens (B, S) of texts, or pixels (B, channels, size, size). */
export interface ModelInputs extends Partial<TextInputs> {
  readonly pixels?: Variable | undefined;
}

/**
 * Traces the logits of a model: of all tokens (B, S, vocabulary), or of the classes of images (B, classes).
 */
export type TraceLogits = (scope: Scope, inputs: ModelInputs) => Variable;

/** Whether the logits of a token predict the token after it. */
export function predictsNext(definition: ModelDefinition): boolean {
  return definition.kind === 'causal' || (definition.kind === 'exported' && definition.labels === 'next');
}

/** A model of one architecture and configuration. Its graph asks for the weights by name and shape. */
export type ModelDefinition = (
  | {
      /** Predicts the token after each token. */
      readonly kind: 'causal';
      /** The layers of the model, as data. */
      readonly decoder: DecoderTable;
    }
  | {
      /** Predicts masked tokens. */
      readonly kind: 'masked';
      /** The number of tokens in the vocabulary. */
      readonly vocabulary: number;
      /** The rows of the tables of positions and of token types, if the model has such tables. */
      readonly limits?:
        | {
            /** The maximum number of tokens of a text. */
            readonly positions: number;
            /** The number of token types. */
            readonly tokenTypes: number;
          }
        | undefined;
      /** (B, S, vocabulary) */
      logits(scope: Scope, inputs: TextInputs): Variable;
    }
  | {
      /** Predicts the class of an image. */
      readonly kind: 'image';
      /** The number of colour channels. */
      readonly channels: number;
      /** The height and width of an image, in pixels. */
      readonly imageSize: number;
      /** The number of classes. */
      readonly classes: number;
      /** (B, classes), from `pixels` (B, channels, imageSize, imageSize). */
      logits(scope: Scope, pixels: Variable): Variable;
    }
  | {
      /** An imported graph. */
      readonly kind: 'exported';
      /**
       * The position of a label: it is the token after the one whose logits predict it, or at the same
       * position.
       */
      readonly labels: 'next' | 'same';
      /** The output of the graph that has the logits. */
      readonly logits: TraceLogits;
    }
) & {
  /** Maps the name of a weight in a file to its name here; null for a weight that is not used. */
  readonly canonical: (name: string) => string | null;
  /**
   * Tied weights: the name in a file of a tensor that the model does not read, such as a head, and the name
   * of the weight that is used in its place. If a file has such a tensor, it must equal the weight.
   */
  readonly tied?: Readonly<Record<string, string>> | undefined;
};

/** An architecture, found by the `model_type` of a configuration. */
export interface Architecture {
  /** The `model_type` of its configurations, such as `llama`. */
  readonly modelType: string;
  /**
   * The model that a configuration describes.
   * @throws ConfigError naming an option that is wrong or unknown.
   */
  read(config: ConfigReader): ModelDefinition;
}

/** How weight names in files differ from those here. */
export interface NameRules {
  /** The prefix that files of a model without a head omit. */
  readonly base: string;
  /** The beginnings of names that some files write without the prefix. */
  readonly parts: readonly string[];
  /** Weights that files contain but that nothing reads. */
  readonly ignored: readonly RegExp[];
  /** Other names: what is replaced, and by what. */
  readonly renamed?: readonly (readonly [from: string, to: string])[] | undefined;
  /** See `ModelDefinition`. */
  readonly tied?: Readonly<Record<string, string>> | undefined;
}

/** The fields of a definition that follow from these rules. */
export function weightNames({
  base,
  parts,
  ignored,
  renamed = [],
  tied = {},
}: NameRules): Pick<ModelDefinition, 'canonical' | 'tied'> {
  const canonical = (given: string): string | null => {
    const spelled = renamed.reduce((name, [from, to]) => name.replace(from, to), given);
    const name = parts.some(part => spelled.startsWith(part)) ? base + spelled : spelled;
    return Object.hasOwn(tied, name) || ignored.some(rule => rule.test(name)) ? null : name;
  };
  return { canonical, tied };
}
