import type { ApiExport } from './api-export.ts';
import type { ApiTag } from './read-members.ts';

/**
 * A tensor of an operation, as `OPERATIONS.md` lists it. Tensors with the same letter have the same dtype.
 */
interface Port {
  readonly name: string;
  readonly isOptional: boolean;
  readonly letter: string;
  readonly dtypes: string;
}

/** An attribute of an operation as an option of its function. */
interface Option {
  readonly name: string;
  readonly isRequired: boolean;
  readonly text: string;
}

/**
 * Describes the functions of `@tilewise/graph/ops` that are made from the table of operations. TypeScript
 * computes their types from the table, so that their declarations name neither operands nor options.
 * @param page the text of `OPERATIONS.md`.
 */
export function describeOperations(page: string): (one: ApiExport) => ApiExport {
  const sections = new Map(page.split('\n## ').map(text => [text.split('\n', 1)[0] ?? '', text]));
  return one => {
    const [, kind = ''] = /^const \w+: OperationFunction<'(\w+)'>;$/.exec(one.signature) ?? [];
    const section = sections.get(kind);
    return section === undefined ? one : described(one, kind, section);
  };
}

function described(one: ApiExport, kind: string, section: string): ApiExport {
  const [inputs, outputs, options] = [
    portsOf(section, 'inputs'),
    portsOf(section, 'outputs'),
    optionsOf(section),
  ];
  const parameters = [
    ...inputs.map(({ name, isOptional }) => `${name}${isOptional ? '?' : ''}: Operand`),
    `options${options.some(({ isRequired }) => isRequired) ? '' : '?'}: OptionsOf<'${kind}'>`,
  ];
  // A function gives only the results that the operation always has.
  const results = outputs.filter(({ isOptional }) => !isOptional);
  const result = results.length > 1 ? 'readonly Variable[]' : 'Variable';
  const dtypeOf = (port: Port): string => {
    const first = inputs.find(({ letter }) => letter === port.letter);
    return first && first !== port ? `of the dtype of \`${first.name}\`` : port.dtypes;
  };
  const returned = results.map(port => {
    const name = results.length > 1 ? `\`${port.name}\`` : 'a variable';
    const dtype = dtypeOf(port);
    return `${name} ${dtype.startsWith('of ') ? dtype : `in ${dtype}`}`;
  });
  const tag = (name: string, text: string): ApiTag => ({ name, text });
  return {
    ...one,
    kind: 'function',
    types: ['Operand', 'OptionsOf', 'Variable'].map(name => ({ path: '@tilewise/graph/ops', name })),
    signature: `function ${one.name}(\n  ${parameters.join(',\n  ')}\n): ${result};`,
    tags: [
      ...inputs.map(port => tag('param', `${port.name} - ${dtypeOf(port)}.`)),
      ...options.map(({ name, text }) => tag('param', `options.${name} - ${text}.`)),
      tag('returns', `${returned.join(', and ')}.`),
    ],
  };
}

function portsOf(section: string, list: 'inputs' | 'outputs'): Port[] {
  const [, line = ''] = new RegExp(`^- ${list}: (.*)$`, 'm').exec(section) ?? [];
  return [...line.matchAll(/`(\w+)`( \(optional\))?: (\w+) of ([^;]*)/g)].map(
    ([, name = '', optional, letter = '', dtypes = '']) => ({
      name,
      isOptional: optional !== undefined,
      letter,
      dtypes: joined(dtypes.split(', ')),
    }),
  );
}

const types: Readonly<Record<string, string>> = {
  s64: 'a whole number',
  f32: 'a number',
  bool: 'a boolean',
  string: 'a string',
  's64[]': 'whole numbers',
  'f32[]': 'numbers',
};

function optionsOf(section: string): Option[] {
  const [kind = ''] = section.split('\n', 1);
  const row = /^- attribute `(\w+)`: (\S+?)(?: of (.*))?, (required|optional|default `(.*)`)$/gm;
  return [...section.matchAll(row)].flatMap(([, name = '', type = '', values, presence, standard]) => {
    if (name === 'keep_stats') return [];
    const value = values ? joined(values.split(', ')) : (types[type] ?? type);
    const own =
      ownDefault(kind, name) ?? (standard === undefined ? undefined : `\`${standard.replaceAll('"', '')}\``);
    return [
      {
        name: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        isRequired: presence === 'required',
        text: own === undefined ? value : `${value}; default: ${own}`,
      },
    ];
  });
}

/** The default of a function where it differs from that of the operation. */
function ownDefault(kind: string, attribute: string): string | undefined {
  if (kind === 'SoftMax' && attribute === 'axis') return '`-1`';
  return kind.startsWith('Reduce') && attribute === 'axes' ? 'all' : undefined;
}

const joined = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
