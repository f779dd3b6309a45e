/** Programs that solve the exercises on the attention machine, shown to those who ask for them. */

export const stream = `; the first key
LOAD x[0], r1
SUB r1, r1, r2
EXP r2, r2
LOAD v[0], r3
; m, d and num
FOR j = 1 TO n-1
  LOAD x[j], R0
  MAX r1, R0, r4
  SUB r1, r4, r1
  EXP r1, r1
  SUB R0, r4, R0
  EXP R0, R0
  MUL r2, r1, r2
  ADD r2, R0, r2
  MUL r3, r1, r3
  LOAD v[j], r1
  MUL r1, R0, r1
  ADD r3, r1, r3
  MOV r4, r1
END
DIV r3, r2, r3
STORE r3, o[0]`;

export const merge = `LOAD m[0], r1
LOAD d[0], r2
LOAD num[0], r3
FOR t = 1 TO n-1
  LOAD m[t], R0
  MAX r1, R0, r4
  SUB r1, r4, r1
  EXP r1, r1
  SUB R0, r4, R0
  EXP R0, R0
  MUL r2, r1, r2
  MUL r3, r1, r3
  LOAD d[t], r1
  MUL r1, R0, r1
  ADD r2, r1, r2
  LOAD num[t], r1
  MUL r1, R0, r1
  ADD r3, r1, r3
  MOV r4, r1
END
DIV r3, r2, r3
STORE r3, o[0]`;

export const queriesOutside = `FOR i = 0 TO n-1
  LOAD q[i], r5
  LOAD k[0], r1
  DOT r5, r1, r1
  SUB r1, r1, r2
  EXP r2, r2
  LOAD v[0], r3
  FOR j = 1 TO n-1
    LOAD k[j], R0
    DOT r5, R0, R0
    MAX r1, R0, r4
    SUB r1, r4, r1
    EXP r1, r1
    SUB R0, r4, R0
    EXP R0, R0
    MUL r2, r1, r2
    ADD r2, R0, r2
    MUL r3, r1, r3
    LOAD v[j], r1
    MUL r1, R0, r1
    ADD r3, r1, r3
    MOV r4, r1
  END
  DIV r3, r2, r3
  STORE r3, o[i]
END`;

export const keysOutside = `; key 0 begins every state
LOAD k[0], r5
LOAD v[0], r6
FOR i = 0 TO n-1
  LOAD q[i], R0
  DOT R0, r5, R0
  STORE R0, m[i]
  SUB R0, R0, R0
  EXP R0, R0
  STORE R0, d[i]
  STORE r6, num[i]
END
FOR j = 1 TO n-1
  LOAD k[j], r5
  LOAD v[j], r6
  FOR i = 0 TO n-1
    LOAD q[i], R0
    DOT R0, r5, R0
    LOAD m[i], r1
    MAX r1, R0, r4
    STORE r4, m[i]
    SUB r1, r4, r1
    EXP r1, r1
    SUB R0, r4, R0
    EXP R0, R0
    LOAD d[i], r2
    MUL r2, r1, r2
    ADD r2, R0, r2
    STORE r2, d[i]
    LOAD num[i], r3
    MUL r3, r1, r3
    MUL r6, R0, R0
    ADD r3, R0, r3
    STORE r3, num[i]
  END
END
FOR i = 0 TO n-1
  LOAD num[i], R0
  LOAD d[i], r1
  DIV R0, r1, R0
  STORE R0, o[i]
END`;

/** A query of the pair: its registers, and where its key and value come from. */
const begin = (q: string, m: string, d: string, num: string): string => `  DOT ${q}, R0, ${m}
  SUB ${m}, ${m}, ${d}
  EXP ${d}, ${d}
  MOV r1, ${num}`;

const step = (q: string, m: string, d: string, num: string): string => `    DOT ${q}, R0, r2
    MAX ${m}, r2, r3
    SUB ${m}, r3, ${m}
    EXP ${m}, ${m}
    SUB r2, r3, r2
    EXP r2, r2
    MUL ${d}, ${m}, ${d}
    ADD ${d}, r2, ${d}
    MUL ${num}, ${m}, ${num}
    MUL r1, r2, r2
    ADD ${num}, r2, ${num}
    MOV r3, ${m}`;

const end = (i: string, d: string, num: string): string => `  DIV ${num}, ${d}, ${num}
  STORE ${num}, o[${i}]`;

const first = ['r4', 'r5', 'r6', 'r7'] as const;
const second = ['r8', 'r9', 'r10', 'r11'] as const;

export const twoQueries = `FOR i = 0 TO n-2 STEP 2
  LOAD q[i], r4
  LOAD q[i+1], r8
  LOAD k[0], R0
  LOAD v[0], r1
${begin(...first)}
${begin(...second)}
  FOR j = 1 TO n-1
    LOAD k[j], R0
    LOAD v[j], r1
${step(...first)}
${step(...second)}
  END
${end('i', 'r6', 'r7')}
${end('i+1', 'r10', 'r11')}
END`;

export const backwardRow = `; D = Σ dO ∘ o
LOAD dO[0], r1
LOAD o[0], r2
DOT r1, r2, r2
LOAD q[0], r3
LOAD lse[0], r4
SUB r3, r3, r5
FOR j = 0 TO n-1
  ; P again
  LOAD k[j], r6
  DOT r3, r6, R0
  SUB R0, r4, R0
  EXP R0, R0
  ; dS = P (dP − D)
  LOAD v[j], r7
  DOT r1, r7, r7
  SUB r7, r2, r7
  MUL R0, r7, R0
  ; dQ = Σ dS k
  MUL r6, R0, r6
  ADD r5, r6, r5
END
STORE r5, dQ[0]`;

export const backwardColumn = `LOAD k[0], r1
LOAD v[0], r2
SUB r1, r1, r3
SUB r2, r2, r4
FOR i = 0 TO n-1
  LOAD q[i], r5
  DOT r5, r1, R0
  LOAD lse[i], r6
  SUB R0, r6, R0
  EXP R0, R0
  ; dV = Σ P dO
  LOAD dO[i], r6
  MUL r6, R0, r7
  ADD r4, r7, r4
  ; dS = P (dP − D)
  DOT r6, r2, r6
  LOAD D[i], r7
  SUB r6, r7, r6
  MUL R0, r6, R0
  ; dK = Σ dS q
  MUL r5, R0, r5
  ADD r3, r5, r3
END
STORE r3, dK[0]
STORE r4, dV[0]`;
