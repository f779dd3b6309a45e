import type { ApiExport, ApiModule } from './api-export.ts';
import { moduleSummaries } from './module-summaries.ts';
import type { ApiMember, ApiTag } from './read-members.ts';
import type { ApiReference } from './read-references.ts';

/** The file name of the page of an import path: `@tilewise/core/cpu` is `core-cpu`. */
export function pageOf(path: string): string {
  return path.replace('@tilewise/', '').replaceAll('/', '-');
}

/** The exports without documentation, as `path name`. */
export function undocumented(api: readonly ApiModule[]): string[] {
  return api.flatMap(({ path, exports }) =>
    exports.filter(({ docs }) => docs.trim() === '').map(({ name }) => `${path} ${name}`),
  );
}

const sections = [
  ['function', 'Functions'],
  ['class', 'Classes'],
  ['interface', 'Interfaces'],
  ['type', 'Types'],
  ['constant', 'Constants'],
  ['namespace', 'Namespaces'],
] as const;

/** The page of an import path, as Markdown. */
export function apiPage({ path, exports }: ApiModule, api: readonly ApiModule[]): string {
  const places = new Map(
    api.flatMap(module =>
      module.exports.map(({ name }) => [name, `./${pageOf(module.path)}#${anchor(name)}`]),
    ),
  );
  for (const { name } of exports) places.set(name, `#${anchor(name)}`);
  const parts = sections.flatMap(([kind, heading]) => {
    const ofKind = exports.filter(one => one.kind === kind);
    return ofKind.length === 0 ? [] : [`## ${heading}`, ...ofKind.map(one => section(one, places, path))];
  });
  const summary = moduleSummaries[path] ?? '';
  return [`# ${path}`, summary, `\`import { … } from '${path}'\``, ...parts].join('\n\n');
}

function section(one: ApiExport, places: Links, path: string): string {
  const { name, signature, docs, tags, members, types } = one;
  const prose = (text: string) => markdown(text, places);
  return [
    `### ${name} {#${anchor(name)}}`,
    prose(docs),
    `\`\`\`ts\n${signature.trimEnd()}\n\`\`\``,
    ...typeLinks(types, path),
    ...parameters(tags, prose),
    ...(members.length > 0 ? [memberList(members, prose)] : []),
    ...outcomes(tags, prose),
  ].join('\n\n');
}

/** Links to the exported types that a signature names, because code has no links. */
function typeLinks(types: readonly ApiReference[], own: string): string[] {
  const links = types.map(({ path, name }) => {
    const page = path === own ? '' : `./${pageOf(path)}`;
    return `[\`${name}\`](${page}#${anchor(name)})`;
  });
  return links.length === 0 ? [] : [`**Types** ${links.join(', ')}`];
}

type Prose = (text: string) => string;

/** The parameters of a function that have documentation, as a list. */
function parameters(tags: readonly ApiTag[], prose: Prose): string[] {
  const items = tags
    .filter(tag => tag.name === 'param')
    .map(({ text }) => {
      const [, parameter, meaning] = /^(\S+)\s*-?\s*([\s\S]*)$/.exec(text) ?? [];
      return `- \`${parameter}\`: ${prose(meaning ?? '')}`;
    });
  return items.length > 0 ? [items.join('\n')] : [];
}

/** What a function returns and throws. */
function outcomes(tags: readonly ApiTag[], prose: Prose): string[] {
  return tags.flatMap(tag => {
    const label = { throws: 'Throws', returns: 'Returns', defaultValue: 'Default' }[tag.name];
    return label ? [`**${label}** ${prose(tag.text)}`] : [];
  });
}

function memberList(members: readonly ApiMember[], prose: Prose): string {
  return members
    .map(({ name, docs, tags }) => {
      const text = [prose(docs), ...parameters(tags, prose), ...outcomes(tags, prose)]
        .filter(Boolean)
        .join('\n\n');
      return `- \`${name}\`: ${text.replace(/\n(?=.)/g, '\n  ')}`;
    })
    .join('\n');
}

type Links = ReadonlyMap<string, string>;

/** The anchor of an export. Names that differ only in case have different anchors. */
export const anchor = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

/**
 * Converts a doc comment to Markdown: resolves links to symbols, fences formulas (indented blocks), so that
 * they scroll on narrow screens, and escapes HTML outside code.
 */
function markdown(text: string, places: Links): string {
  return text
    .split(/(```[\s\S]*?```|(?<=^|\n\n) {4}.*(?:\n {4}.*)*|`[^`\n]*`|\*\*[^*\n]+\*\*|\{@link[^}]*\})/)
    .map(part => {
      if (part.startsWith('    ')) return `\`\`\`\n${part.replace(/^ {4}/gm, '')}\n\`\`\``;
      const [, target, label] = /^\{@link\s+([\w.]+)\s*\|?\s*([^}]*)\}$/.exec(part) ?? [];
      if (target !== undefined) {
        const place = places.get(target.split('.')[0] ?? target);
        return place ? `[\`${label || target}\`](${place})` : `\`${label || target}\``;
      }
      if (part.startsWith('`') || part.startsWith('**')) return part;
      return part
        .replace(/</g, '&lt;')
        .replace(/\{\{/g, '&#123;&#123;')
        .replace(/([*_[\]])/g, '\\$1');
    })
    .join('');
}
