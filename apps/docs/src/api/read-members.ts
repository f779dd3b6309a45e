import ts from 'typescript-5.9';

/** A text of a doc comment that begins with `@name`. */
export interface ApiTag {
  readonly name: string;
  readonly text: string;
}

/** A property, method or value of an exported interface, class or type, and its documentation. */
export interface ApiMember {
  /** The name; for a member that another type declares, its whole declaration. */
  readonly name: string;
  readonly docs: string;
  readonly tags: readonly ApiTag[];
}

export function documentationOf(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker));
}

export function tagsOf(checker: ts.TypeChecker, symbol: ts.Symbol): ApiTag[] {
  return symbol
    .getJsDocTags(checker)
    .map(({ name, text }) => ({ name, text: ts.displayPartsToString(text) }));
}

/**
 * The documented members in the text of an interface, a class, or an object type. The members of an object
 * type inside it are named by their path: `evaluation.every`, or `compile({ policy })` for an option of a
 * method.
 */
export function membersOf(checker: ts.TypeChecker, declaration: ts.Node): ApiMember[] {
  const members: ApiMember[] = [];
  const visit = (node: ts.Node, place: (name: string) => string): void => {
    let inside = place;
    if (ts.isCallSignatureDeclaration(node)) members.push(...documentedCall(checker, node));
    if (ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isClassElement(node)) {
      const symbol = node.name && checker.getSymbolAtLocation(node.name);
      // The name as it is written: the symbol of `[Symbol.dispose]` has an internal name.
      const name = place(node.name?.getText() ?? '');
      if (symbol && !members.some(member => member.name === name))
        members.push(...documented(checker, symbol, name));
      const isMethod = ts.isMethodSignature(node) || ts.isMethodDeclaration(node);
      inside = isMethod ? own => `${name}({ ${own} })` : own => `${name}.${own}`;
    }
    if (!ts.isVariableStatement(node)) ts.forEachChild(node, child => visit(child, inside));
  };
  visit(declaration, name => name);
  return members;
}

/**
 * The documented members that a class, an interface or an object type has from declarations that no import
 * path exports, so that no other place of the reference has them; each with its declaration.
 * @param isOurs whether a file belongs to the packages.
 */
export function hiddenMembersOf(
  checker: ts.TypeChecker,
  symbol: ts.Symbol,
  exported: Pick<ReadonlySet<ts.Symbol>, 'has'>,
  isOurs: (file: string) => boolean,
): { readonly members: readonly ApiMember[]; readonly declaration: ts.Declaration }[] {
  if (!(symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)))
    return [];
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const shown = exportedBases(checker, type, exported);
  return checker.getPropertiesOfType(type).flatMap(member => {
    const [declaration] = member.declarations ?? [];
    if (!declaration || !isOurs(declaration.getSourceFile().fileName)) return [];
    if (shown.some(base => base.getProperty(member.name))) return [];
    const owner = ownerOf(checker, declaration);
    if (!owner || exported.has(owner)) return [];
    const text = declaration.getText().replace(/\s+/g, ' ').replace(/;$/, '');
    const members = documented(checker, member, text);
    return members.length > 0 ? [{ members, declaration }] : [];
  });
}

/** The exported types that a class or an interface extends, also through types that are not exported. */
function exportedBases(
  checker: ts.TypeChecker,
  type: ts.Type,
  exported: Pick<ReadonlySet<ts.Symbol>, 'has'>,
): ts.Type[] {
  const bases = type.isClassOrInterface() ? checker.getBaseTypes(type) : [];
  return bases.flatMap(base => (exported.has(base.symbol) ? [base] : exportedBases(checker, base, exported)));
}

/** The symbol of the interface, class or type that contains a declaration. */
function ownerOf(checker: ts.TypeChecker, declaration: ts.Declaration): ts.Symbol | undefined {
  let node: ts.Node = declaration;
  while (
    !ts.isInterfaceDeclaration(node) &&
    !ts.isClassDeclaration(node) &&
    !ts.isTypeAliasDeclaration(node)
  ) {
    if (ts.isSourceFile(node)) return undefined;
    node = node.parent;
  }
  return node.name && checker.getSymbolAtLocation(node.name);
}

/** A member with its documentation; none if it has no documentation, or is `@internal`. */
function documented(checker: ts.TypeChecker, symbol: ts.Symbol, name: string): ApiMember[] {
  const docs = documentationOf(checker, symbol);
  const tags = tagsOf(checker, symbol);
  if (tags.some(tag => tag.name === 'internal')) return [];
  return docs || tags.length > 0 ? [{ name, docs, tags }] : [];
}

/** A call signature of an interface, with the names of its parameters; none if it has no documentation. */
function documentedCall(checker: ts.TypeChecker, node: ts.CallSignatureDeclaration): ApiMember[] {
  const signature = checker.getSignatureFromDeclaration(node);
  const docs = ts.displayPartsToString(signature?.getDocumentationComment(checker));
  const parameters = node.parameters.map(one => `${one.name.getText()}${one.questionToken ? '?' : ''}`);
  const tags = (signature?.getJsDocTags() ?? []).map(({ name, text }) => ({
    name,
    text: ts.displayPartsToString(text),
  }));
  return docs ? [{ name: `(${parameters.join(', ')})`, docs, tags }] : [];
}
