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
  /** i32 (B, S), of models that tell parts of a text apart. */
  readonly tokenTypes?: Variable | undefined;
}

/** The inputs of a model: tokens (B, S) of texts, or pixels (B, channels, size, size). */
export interface ModelInputs extends Partial<TextInputs> {
  readonly pixels?: Variable | undefined;
}

/** Whether the logits of a token predict the token after it. */
export function predictsNext(definition: ModelDefinition): boolean {
  return definition.kind === 'causal' || (definition.kind === 'exported' && definition.labels === 'next');
}

/**
 * A model of an architecture and a configuration; `Weights` are its names and shapes as its graph asks for
 * them.
 */
export type ModelDefinition = (
  | {
      /** Predicts the next token of each. */
      readonly kind: 'causal';
      readonly decoder: DecoderTable;
    }
  | {
      /** Predicts tokens that are hidden. */
      readonly kind: 'masked';
      readonly vocabulary: number;
      /** (B, S, vocabulary) */
      logits(scope: Scope, inputs: TextInputs): Variable;
    }
  | {
      /** Predicts the class of an image. */
      readonly kind: 'image';
      readonly channels: number;
      readonly imageSize: number;
      readonly classes: number;
      /** @param pixels (B, channels, size, size); gives (B, classes) */
      logits(scope: Scope, pixels: Variable): Variable;
    }
  | {
      /** A graph from elsewhere. */
      readonly kind: 'exported';
      /**
       * The place of the labels: each is the token after the one whose logits predict it, or at its own
       * place.
       */
      readonly labels: 'next' | 'same';
      logits(scope: Scope, inputs: ModelInputs): Variable;
    }
) & {
  /** The name of a weight here of one in a file; null for one that is not used. */
  readonly canonical: (name: string) => string | null;
};

/** An architecture by the `model_type` of its configurations. */
export interface Architecture {
  readonly modelType: string;
  /** @throws ConfigError naming an option that is wrong or not known. */
  read(config: ConfigReader): ModelDefinition;
}

/** How names in files differ from those here. */
export interface NameRules {
  /** The prefix that the names of a model without a head leave out. */
  readonly base: string;
  /** The names behind it of which some file leaves out the base. */
  readonly parts: readonly string[];
  /** Weights that files have and that nothing reads. */
  readonly ignored: readonly RegExp[];
  /** Older spellings. */
  readonly renamed?: readonly (readonly [RegExp, string])[] | undefined;
}

/** `canonical` of rules. */
export function canonicalName({
  base,
  parts,
  ignored,
  renamed = [],
}: NameRules): (name: string) => string | null {
  return given => {
    const spelled = renamed.reduce((name, [from, to]) => name.replace(from, to), given);
    const name = parts.some(part => spelled.startsWith(part)) ? base + spelled : spelled;
    return ignored.some(rule => rule.test(name)) ? null : name;
  };
}
