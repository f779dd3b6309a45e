import { type ReactNode, useEffect, useRef } from 'react';
import { lightSymbols } from './symbols.ts';

/** The region in which a symbol that the visitor points at is highlighted in formulas, text and figures. */
export function SymbolScope({ children }: { readonly children: ReactNode }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current) return lightSymbols(host.current);
  }, []);
  return <div ref={host}>{children}</div>;
}
