#!/usr/bin/env node
/// <reference types="node" />
import { readFileSync } from 'node:fs';
import { graphCommand } from './command.ts';

process.exitCode = await graphCommand(process.argv.slice(2), {
  readFile: path => readFileSync(path),
  print: text => console.log(text),
});
