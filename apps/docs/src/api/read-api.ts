import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';
import type { ApiExport, ApiModule } from './api-export.ts';
import { describeOperations } from './operation-functions.ts';
import { documentationOf, hiddenMembersOf, membersOf, tagsOf } from './read-members.ts';
import { type ApiReference, referencesOf } from './read-references.ts';
import { signatureOf } from './read-signature.ts';

const packages = fileURLToPath(new URL('../../../../packages', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Record<string, { readonly types?: string } | string>;
}

/** The declaration files of all public import paths, in the order of the packages' names. */
function entryPoints(): { readonly path: string; readonly file: string }[] {
  return readdirSync(packages).flatMap(folder => {
    const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8')) as Manifest;
    if (manifest.private) return [];
    return Object.entries(manifest.exports).flatMap(([key, target]) =>
      typeof target === 'object' && target.types
        ? [{ path: manifest.name + key.slice(1), file: join(packages, folder, target.types) }]
        : [],
    );
  });
}

/**
 * Reads the exports of every public import path from the declaration files of the built packages.
 * @throws Error if a declaration file is missing: build the packages first.
 */
export function readApi(): ApiModule[] {
  const entries = entryPoints();
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      skipLibCheck: true,
    },
  );
  const checker = program.getTypeChecker();
  const modules = entries.map(({ path, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${path}: ${file} is missing or exports nothing; build the packages first`);
    const hidden = valuesOfTypeStars(checker, source);
    return { path, symbols: checker.getExportsOfModule(module).filter(symbol => !hidden.has(symbol)) };
  });
  const places = new Map<ts.Symbol, ApiReference[]>();
  for (const { path, symbols } of modules) {
    for (const symbol of symbols) {
      const own = declared(checker, symbol);
      places.set(own, [...(places.get(own) ?? []), { path, name: symbol.name }]);
    }
  }
  const described = describeOperations(readFileSync(join(packages, 'graph/OPERATIONS.md'), 'utf8'));
  return modules.map(({ path, symbols }) => {
    const exports = symbols
      .map(symbol => described(readExport(checker, symbol, places, path)))
      .sort((a, b) => a.name.localeCompare(b.name));
    return { path, exports };
  });
}

/**
 * The functions and constants of modules that a file exports by `export type *`, so that nobody can import
 * them.
 */
function valuesOfTypeStars(checker: ts.TypeChecker, source: ts.SourceFile): ReadonlySet<ts.Symbol> {
  const stars = source.statements
    .filter(ts.isExportDeclaration)
    .filter(({ isTypeOnly, exportClause }) => isTypeOnly && !exportClause);
  const exports = stars.flatMap(({ moduleSpecifier }) => {
    const module = moduleSpecifier && checker.getSymbolAtLocation(moduleSpecifier);
    return module ? checker.getExportsOfModule(module) : [];
  });
  return new Set(exports.filter(({ flags }) => flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)));
}

/** The symbol that an export stands for. */
const declared = (checker: ts.TypeChecker, exported: ts.Symbol): ts.Symbol =>
  exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;

const isOurs = (file: string): boolean => file.startsWith(packages);

function readExport(
  checker: ts.TypeChecker,
  exported: ts.Symbol,
  places: ReadonlyMap<ts.Symbol, readonly ApiReference[]>,
  path: string,
): ApiExport {
  const symbol = declared(checker, exported);
  const declarations = (symbol.declarations ?? []).map(node =>
    ts.isVariableDeclaration(node) ? node.parent.parent : node,
  );
  const docs = documentationOf(checker, symbol) || documentationOf(checker, exported);
  const hidden = hiddenMembersOf(checker, symbol, places, isOurs);
  return {
    name: exported.name,
    kind: kindOf(symbol),
    signature: declarations.map(signatureOf).join('\n'),
    docs,
    tags: tagsOf(checker, symbol),
    members: [
      ...declarations.flatMap(node => membersOf(checker, node)),
      ...hidden.flatMap(({ members }) => members),
    ],
    types: referencesOf([...declarations, ...hidden.map(({ declaration }) => declaration)], node => {
      const named = checker.getSymbolAtLocation(node);
      const found = named && declared(checker, named);
      if (!found || found === symbol) return undefined;
      const all = places.get(found) ?? [];
      return all.find(place => place.path === path) ?? all[0];
    }),
  };
}

function kindOf({ flags }: ts.Symbol): ApiExport['kind'] {
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  if (flags & ts.SymbolFlags.Variable) return 'constant';
  return flags & ts.SymbolFlags.Module ? 'namespace' : 'type';
}
