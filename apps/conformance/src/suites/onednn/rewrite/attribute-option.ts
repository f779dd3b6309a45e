import { type OneDnnAttribute, type OneDnnOp, operationOf } from '@tilewise/graph';

/**
 * The attributes of an operation after applying `--op-attrs`: `NAME:VALUE*NAME:VALUE`.
 * @throws Error if the operation has no such attribute, or does not accept the value.
 */
export function withAttributes(op: OneDnnOp, settings: string): Record<string, OneDnnAttribute> {
  const changed: Record<string, OneDnnAttribute> = { ...op.attrs };
  for (const setting of settings.split('*')) {
    const [name, text = ''] = setting.split(':');
    const type = changed[name]?.type ?? operationOf(op.kind)?.attributes[name]?.type;
    if (!type) throw new Error(`op-attrs: ${op.kind} ${op.id} has no attribute '${name}'`);
    changed[name] = { type, value: readValue(name, type, text) };
  }
  return changed;
}

const truth: Readonly<Record<string, number>> = { 0: 0, 1: 1, false: 0, true: 1 };

function readValue(name: string, type: OneDnnAttribute['type'], text: string): OneDnnAttribute['value'] {
  if (type === 'string') return text;
  const number = (part: string): number => {
    const value = type === 'bool' ? truth[part] : part === '' ? Number.NaN : Number(part);
    if (value === undefined || Number.isNaN(value))
      throw new Error(`op-attrs: ${name} is of type ${type}, not '${text}'`);
    return value;
  };
  return type.endsWith('[]') ? text.split('x').map(number) : number(text);
}
