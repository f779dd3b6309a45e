// Copies the project's addresses from `project.json`, their only source, to the manifests of the packages.
//   node scripts/release/project-fields.mjs [--write]     checks the public packages, or writes the fields
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The addresses of the project. `.invalid` stands for an address that has not been chosen yet. */
export function readProject() {
  return JSON.parse(readFileSync(join(root, 'project.json'), 'utf8'));
}

/** The names in `project.json` whose value is still a placeholder. A release refuses them. */
export function placeholders() {
  const project = readProject();
  return Object.keys(project).filter(name => /\.invalid\b/.test(project[name]));
}

/** The fields of the manifest of a package in a folder below the root. */
function projectFields(folder) {
  const { homepage, repository } = readProject();
  return {
    homepage,
    repository: { type: 'git', url: `git+${repository}.git`, directory: folder },
    bugs: { url: `${repository}/issues` },
  };
}

/** The public packages whose manifests lack the fields; with `write`, the fields are written first. */
export function outdatedManifests(write) {
  return readdirSync(join(root, 'packages')).filter(name => {
    const path = join(root, 'packages', name, 'package.json');
    const text = readFileSync(path, 'utf8');
    const { name: own, version, description, license, ...rest } = JSON.parse(text);
    const fields = projectFields(`packages/${name}`);
    const wanted = `${JSON.stringify({ name: own, version, description, license, ...fields, ...without(rest, fields) }, null, 2)}\n`;
    if (write) writeFileSync(path, wanted);
    return !write && JSON.stringify(JSON.parse(text)) !== JSON.stringify(JSON.parse(wanted));
  });
}

const without = (manifest, fields) =>
  Object.fromEntries(Object.entries(manifest).filter(([name]) => !(name in fields)));

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const outdated = outdatedManifests(process.argv.includes('--write'));
  if (outdated.length > 0) {
    console.log(`The manifests of ${outdated.join(', ')} do not match project.json.`);
    console.log('Write them: node scripts/release/project-fields.mjs --write');
    process.exit(1);
  }
}
