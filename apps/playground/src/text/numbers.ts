import type { Language } from './languages.ts';
import { useLanguage } from './TextProvider.tsx';

/** Functions that write numbers in one language. */
export interface Numbers {
  /** With the given number of digits after the point: `−0.125`. */
  readonly fixed: (value: number, digits: number) => string;
  /** With at most the given number of significant digits, without trailing zeros: `0.0125`, `1,200`. */
  readonly significant: (value: number, digits: number) => string;
  /** Like `significant`, with an exponent if the number is tiny or huge: `1.3e−7`. */
  readonly short: (value: number, digits: number) => string;
  /** Numbers in parentheses, each like `fixed`; the separator differs from the decimal mark. */
  readonly vector: (values: readonly number[], digits: number) => string;
  /** Bytes in the largest unit of which there is at least one: `512 B`, `102 MiB`. */
  readonly bytes: (count: number) => string;
  /** A whole number: `4,096`. */
  readonly whole: (value: number) => string;
  /** A share as a percentage: `12.5%`, and in German `12,5 %`. */
  readonly percent: (share: number, digits?: number) => string;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

const formats = new Map<string, Intl.NumberFormat>();

/** Formats are kept, because creating one takes a hundred times as long as using one. */
function format(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.NumberFormat(language, options);
  formats.set(key, known);
  return known;
}

/** Writes numbers with the language's decimal mark and digit groups, and with the minus sign U+2212. */
export function numbersIn(language: Language): Numbers {
  const write = (value: number, options: Intl.NumberFormatOptions): string =>
    Number.isNaN(value)
      ? 'NaN'
      : format(language, options)
          .format(value)
          .replace('-', '−')
          .replace(/^−(0([.,]0*)?(\s?%)?)$/, '$1');
  const separator = write(0.5, {}).includes(',') ? '; ' : ', ';
  const fixed = (value: number, digits: number): string =>
    write(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const significant = (value: number, digits: number): string =>
    write(value, { maximumSignificantDigits: digits });
  const readable = (value: number): boolean =>
    value === 0 || !Number.isFinite(value) || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7);
  return {
    fixed,
    significant,
    short(value, digits) {
      if (readable(value)) return significant(value, digits);
      const [mantissa = '', exponent = ''] = value.toExponential(digits - 1).split('e');
      return `${significant(Number(mantissa), digits)}e${exponent.replace('+', '').replace('-', '−')}`;
    },
    vector: (values, digits) => `(${values.map(value => fixed(value, digits)).join(separator)})`,
    bytes(count) {
      const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
      return `${significant(count / 1024 ** unit, 3)} ${units[unit]}`;
    },
    whole: value => fixed(value, 0),
    percent: (share, digits = 0) =>
      write(share, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }),
  };
}

/** Writes numbers in the visitor's language. */
export function useNumbers(): Numbers {
  const [language] = useLanguage();
  return numbersIn(language);
}
