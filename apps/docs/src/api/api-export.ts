import type { ApiMember, ApiTag } from './read-members.ts';
import type { ApiReference } from './read-references.ts';

/** One exported name: its declarations as TypeScript, without comments, and its documentation as Markdown. */
export interface ApiExport {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'interface' | 'type' | 'constant' | 'namespace';
  readonly signature: string;
  readonly docs: string;
  readonly tags: readonly ApiTag[];
  readonly members: readonly ApiMember[];
  /** The other exports that its declarations and members name. */
  readonly types: readonly ApiReference[];
}

/** The exports of one import path. */
export interface ApiModule {
  /** The import path, such as `@tilewise/core/cpu`. */
  readonly path: string;
  readonly exports: readonly ApiExport[];
}
