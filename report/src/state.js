// What is looked at: kept in the address behind '#', so that a view can be sent, and is the same after a reload.
const listeners = [];
export const state = { run: null, tensor: null, step: null, collection: null, metric: null, mode: null, worker: -1, range: null, log: null, smooth: 0, rule: null, off: [] };

const texts = ['tensor', 'collection', 'metric', 'mode', 'rule'];
const numbers = ['run', 'step', 'worker', 'smooth', 'log'];

export function readState() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of texts) if (given.has(key)) state[key] = given.get(key);
    for (const key of numbers) if (given.has(key) && Number.isFinite(Number(given.get(key)))) state[key] = Number(given.get(key));
    const range = (given.get('range') || '').split(':').map(Number);
    if (range.length === 2 && range.every(Number.isFinite) && range[0] < range[1]) state.range = range;
    if (given.has('off')) state.off = given.getAll('off');
}

function writeState() {
    const text = new URLSearchParams();
    for (const key of [...texts, ...numbers]) if (state[key] !== null && state[key] !== undefined) text.set(key, state[key]);
    if (state.range) text.set('range', state.range.map((v) => Math.round(v * 100) / 100).join(':'));
    for (const name of state.off) text.append('off', name);
    try {
        history.replaceState(null, '', '#' + text);
    } catch {
        // a place that cannot be written to: the view is not kept
    }
}

// The address was changed by hand, or by going back.
export function takeAddress() {
    const before = { ...state };
    readState();
    const changed = Object.keys(state).filter((key) => String(state[key]) !== String(before[key]));
    for (const [keys, listener] of listeners) if (keys.some((key) => changed.includes(key))) listener(changed);
}

let writing = 0;
export function set(changes) {
    const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
    if (!changed.length) return;
    Object.assign(state, changes);
    clearTimeout(writing);
    writing = setTimeout(writeState, 150);
    for (const [keys, listener] of listeners) if (keys.some((key) => changed.includes(key))) listener(changed);
}
export const on = (keys, listener) => listeners.push([keys, listener]);

export function remember(key, value) {
    try {
        if (value === undefined) return sessionStorage.getItem('smdebug-' + key);
        sessionStorage.setItem('smdebug-' + key, value);
    } catch {
        // without storage nothing is remembered
    }
    return null;
}
