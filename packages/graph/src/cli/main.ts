#!/usr/bin/env node
/// <reference types="node" />
import { existsSync, readFileSync } from 'node:fs';
import { graphCommand } from './command.ts';

process.exitCode = await graphCommand(process.argv.slice(2), {
  readFile: path => (existsSync(path) ? readFileSync(path) : undefined),
  print: text => console.log(text),
});
