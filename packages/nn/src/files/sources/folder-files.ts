import { checkObject, TilewiseError } from '@tilewise/core';
import { checkArgument, type Rule } from '../../checks/check-fields.ts';
import { text } from '../../checks/rules.ts';
import type { OpenRange } from './byte-stream.ts';
import { CheckpointError } from './checkpoint-error.ts';
import type { ModelFiles } from './model-files.ts';

/** The functions of `node:fs` that are used. */
interface NodeFileSystem {
  statSync(
    path: string,
    options: { readonly throwIfNoEntry: false },
  ): { readonly size: number; isFile(): boolean } | undefined;
  createReadStream(
    path: string,
    options?: { readonly start: number; readonly end: number },
  ): AsyncIterable<Uint8Array>;
  mkdirSync(path: string, options: { readonly recursive: true }): unknown;
  readonly promises: { writeFile(path: string, content: string | Uint8Array): Promise<void> };
}

/** Node's file system, without an import that bundlers for browsers would have to resolve. */
function fileSystem(): NodeFileSystem {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  const fs = process?.getBuiltinModule?.('node:fs') as NodeFileSystem | undefined;
  if (fs) return fs;
  throw new TilewiseError('UNSUPPORTED', 'folderFiles needs Node; in a page, use givenFiles or hubFiles');
}

/**
 * The files of a folder, in Node. `open` of a name that the file system refuses throws a CheckpointError.
 * @throws InvalidArgumentError for a path that is not a string; TilewiseError `UNSUPPORTED` where there is no
 * file system.
 */
export function folderFiles(path: string): ModelFiles {
  checkArgument('path', path, text);
  const fs = fileSystem();
  return {
    name: path,
    async open(file) {
      const place = `${path}/${file}`;
      try {
        const found = fs.statSync(place, { throwIfNoEntry: false });
        // `withProgress` reports the size.
        return found?.isFile() ? Object.assign(fs.createReadStream(place), { size: found.size }) : null;
      } catch (cause) {
        // The name may come from a stranger's index, and be longer than names of files can be.
        throw new CheckpointError({ file, cause }, 'cannot be opened');
      }
    },
  };
}

const contentRule: Rule = {
  rule: 'must be a string or bytes',
  holds: x => text.holds(x) || x instanceof Uint8Array,
};

const insideRule: Rule = {
  rule: 'must have a path inside the folder',
  holds: name => !`${name}`.split(/[\\/]/).includes('..'),
};

/**
 * Writes files, by their paths inside a folder, in Node. Missing folders are created.
 * @throws InvalidArgumentError, before a file is written, for a path that leaves the folder and for a content
 * that is neither a string nor bytes; TilewiseError `UNSUPPORTED` where there is no file system; the errors
 * of Node's `fs`.
 */
export async function writeFolder(
  path: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  checkArgument('path', path, text);
  checkObject('files', files);
  for (const [name, content] of Object.entries(files)) {
    checkArgument(`files['${name}']`, name, insideRule);
    checkArgument(`files['${name}']`, content, contentRule);
  }
  const fs = fileSystem();
  for (const [name, content] of Object.entries(files)) {
    const place = `${path}/${name}`;
    fs.mkdirSync(place.slice(0, place.lastIndexOf('/')), { recursive: true });
    await fs.promises.writeFile(place, content);
  }
}

/**
 * The bytes of a file, in Node, for `openSafetensors`.
 * @throws InvalidArgumentError for a path that is not a string; TilewiseError `UNSUPPORTED` where there is no
 * file system.
 */
export function fileRanges(path: string): OpenRange {
  checkArgument('path', path, text);
  const fs = fileSystem();
  return async (begin, end) => (end > begin ? fs.createReadStream(path, { start: begin, end: end - 1 }) : []);
}
