import { TilewiseError } from '@tilewise/core';

/**
 * The module of an optional peer dependency.
 * @throws TilewiseError `UNSUPPORTED` for a package that cannot be loaded: install it.
 */
export async function optionalPeer<M>(name: string, module: Promise<M>): Promise<M> {
  try {
    return await module;
  } catch (cause) {
    const reason = `this tokenizer needs the package ${name}, which cannot be loaded: npm install ${name}`;
    throw new TilewiseError('UNSUPPORTED', reason, { cause });
  }
}
