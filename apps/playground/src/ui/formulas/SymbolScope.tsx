import { type ReactNode, useEffect, useRef } from 'react';
import { lightSymbols } from './symbols.ts';

/** The place within which a symbol that is pointed at is shown in formulas, text and figures alike. */
export function SymbolScope({ children }: { readonly children: ReactNode }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current) return lightSymbols(host.current);
  }, []);
  return <div ref={host}>{children}</div>;
}
