// apps/docs/src/api/read-api.ts
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';

var packages = fileURLToPath(new URL('../../../../packages', import.meta.url));
function entryPoints() {
  return readdirSync(packages).flatMap(folder => {
    const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'));
    if (manifest.private) return [];
    return Object.entries(manifest.exports).flatMap(([key, target]) =>
      typeof target === 'object' && target.types
        ? [{ path: manifest.name + key.slice(1), file: join(packages, folder, target.types) }]
        : [],
    );
  });
}
function readApi() {
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
  return entries.map(({ path, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${path}: ${file} is missing or exports nothing; build the packages first`);
    const exports = checker
      .getExportsOfModule(module)
      .map(symbol => readExport(checker, symbol))
      .sort((a, b) => a.name.localeCompare(b.name));
    return { path, exports };
  });
}
var printer = ts.createPrinter({ removeComments: true });
function readExport(checker, exported) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const declarations = (symbol.declarations ?? []).map(node =>
    ts.isVariableDeclaration(node) ? node.parent.parent : node,
  );
  const docs = documentationOf(checker, symbol) || documentationOf(checker, exported);
  return {
    name: exported.name,
    kind: kindOf(symbol),
    signature: declarations.map(signatureOf).join('\n'),
    docs,
    tags: symbol
      .getJsDocTags(checker)
      .map(({ name, text }) => ({ name, text: ts.displayPartsToString(text) })),
    members: declarations.flatMap(node => membersOf(checker, node)),
  };
}
function documentationOf(checker, symbol) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker));
}
function kindOf({ flags }) {
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  if (flags & ts.SymbolFlags.Variable) return 'constant';
  return flags & ts.SymbolFlags.Module ? 'namespace' : 'type';
}
function signatureOf(node) {
  if (ts.isSourceFile(node)) return '';
  return printer
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/^export (declare )?/, '')
    .replace(/^ +#private;\n/gm, '')
    .replace(/^( {4})+/gm, indent => ' '.repeat(indent.length / 2));
}
function membersOf(checker, declaration) {
  const members = [];
  const visit = node => {
    if (ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isClassElement(node)) {
      const symbol = node.name && checker.getSymbolAtLocation(node.name);
      const docs = symbol && documentationOf(checker, symbol);
      if (docs && !members.some(member => member.name === symbol.name))
        members.push({ name: symbol.name, docs });
    }
    if (!ts.isVariableStatement(node)) ts.forEachChild(node, visit);
  };
  visit(declaration);
  return members;
}

export { readApi };
