import type { Generator } from './generator.ts';

/** The drawn values, and the values in the file. They must be equal. */
export interface Comparison {
  readonly what: string;
  readonly got: readonly (string | number)[];
  readonly want: readonly (string | number)[];
}

/** The outcome of checking a record: comparisons, or why the generator cannot draw it. */
export type Check = readonly Comparison[] | { readonly unsupported: string };

/** A kind of vector: its section in a file, the fields of its records, and how a record is checked. */
export interface Family {
  /** The title of the family, used in reasons. */
  readonly title: string;
  /** Whether a record of this section belongs to the family. */
  matches(section: string, record: unknown): boolean;
  check(section: string, record: unknown, generator: Generator): Promise<Check>;
}

/**
 * A family whose records are objects that have all of `fields`, in sections of that name.
 *
 * @param onHost whether the family has no WGSL, so that only the host can draw it.
 */
export function family<R>(definition: {
  readonly title: string;
  readonly section: RegExp;
  readonly fields: readonly (keyof R & string)[];
  readonly onHost?: boolean;
  readonly check: (record: R, generator: Generator, section: string) => Check | Promise<Check>;
}): Family {
  const { title, section: sections, fields, onHost, check } = definition;
  return {
    title,
    matches: (section, record) => sections.test(section) && hasFields(record, fields),
    // The file decides what a record contains; the fields that are needed to read it have just been checked.
    check: async (section, record, generator) =>
      onHost && !generator.isHost
        ? { unsupported: `${title} has no WGSL: it runs on hosts only` }
        : check(record as R, generator, section),
  };
}

function hasFields(record: unknown, fields: readonly string[]): boolean {
  return typeof record === 'object' && record !== null && fields.every(field => Object.hasOwn(record, field));
}
