import ts from 'typescript-5.9';
import { isInternal } from './read-signature.ts';

/** An export that a declaration names. */
export interface ApiReference {
  /** The import path that has the export. */
  readonly path: string;
  readonly name: string;
}

/**
 * The exports that declarations name, each once, in the order in which they appear. Names are resolved by the
 * type checker, because type parameters and types that are not exported may have the name of an export.
 * @param placeOf the export that an identifier stands for, if it stands for one.
 */
export function referencesOf(
  declarations: readonly ts.Node[],
  placeOf: (node: ts.Identifier) => ApiReference | undefined,
): ApiReference[] {
  const references = new Map<string, ApiReference>();
  const visit = (node: ts.Node): void => {
    if (isInternal(node)) return;
    const place = ts.isIdentifier(node) ? placeOf(node) : undefined;
    if (place) references.set(place.name, place);
    ts.forEachChild(node, visit);
  };
  for (const node of declarations) if (!ts.isSourceFile(node)) visit(node);
  return [...references.values()];
}
