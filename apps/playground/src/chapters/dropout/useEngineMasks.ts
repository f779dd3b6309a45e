import type { DropoutSchemeName } from '@tilewise/philox';
import { useEffect, useState } from 'react';
import { loadEngine, type RunsOn } from '../../engine/engine.ts';
import { type DrawnMask, engineMask } from '../../logic/dropout-trace/engine-mask.ts';

/** The masks that the page's engine has drawn, and which engine that is. */
export interface EngineMasks {
  readonly runsOn: RunsOn;
  readonly masks: Readonly<Record<DropoutSchemeName, Uint8Array>>;
}

/**
 * Draws masks on the engine of the page. Returns null while the engine draws, and a message if drawing
 * failed.
 */
export function useEngineMasks(drawn: Omit<DrawnMask, 'scheme'>): EngineMasks | string | null {
  const [result, setResult] = useState<EngineMasks | string | null>(null);
  const { p, seed, offset, size } = drawn;
  useEffect(() => {
    let current = true;
    setResult(null);
    const draw = async (): Promise<EngineMasks> => {
      const engine = await loadEngine();
      const mask = (scheme: DropoutSchemeName): Promise<Uint8Array> =>
        engineMask(engine, { scheme, p, seed, offset, size });
      return {
        runsOn: engine.runsOn,
        masks: {
          'torch-efficient': await mask('torch-efficient'),
          'flash-attention-2': await mask('flash-attention-2'),
          onednn: await mask('onednn'),
        },
      };
    };
    // A slider passes many values on its way: only the value that it rests on is drawn.
    const timer = setTimeout(() => {
      draw()
        .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
        .then(found => {
          if (current) setResult(found);
        });
    }, 200);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [p, seed, offset, size]);
  return result;
}
