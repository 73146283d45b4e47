//! Measures candle. It prints its version, and then, for each case that it reads as a line of JSON, the seconds of a
//! call and a digest of the result, as ../../ops.go does for our side, which says what the cases are.

use candle_core::{D, Device, Result, Tensor, Var};
use candle_nn::attention::{AttnMask, flash_attn};
use candle_nn::{Linear, Module, Optimizer, SGD, loss, ops};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

#[derive(Deserialize)]
struct Case {
    what: String,
    sizes: Vec<usize>,
    budget: f64,
}

#[derive(Serialize, Default)]
struct Measured {
    seconds: f64,
    some: Vec<f64>,
}

type Call = Box<dyn FnMut() -> Result<Tensor>>;

fn numbers(seed: i64, scale: f64, shift: f64, shape: &[usize]) -> Result<Tensor> {
    let values: Vec<f32> = (0..shape.iter().product::<usize>() as i64)
        .map(|i| i + 7919 * seed)
        .map(|j| (((31 * j * j + 17 * j) % 1009 - 504) as f64 * (scale / 291.) + shift) as f32)
        .collect();
    Tensor::from_vec(values, shape, &Device::Cpu)
}

fn digest(t: &Tensor) -> Result<Vec<f64>> {
    const SAMPLES: usize = 61;
    let all: Vec<f64> = t.flatten_all()?.to_vec1::<f32>()?.into_iter().map(f64::from).collect();
    let n = all.len() as f64;
    let mut digest = vec![n, all.iter().sum::<f64>() / n, (all.iter().map(|v| v * v).sum::<f64>() / n).sqrt()];
    digest.extend((0..SAMPLES).map(|i| all[i * (all.len() - 1) / (SAMPLES - 1)]));
    Ok(digest)
}

/// The median seconds of a call over series of 2 ms.
fn typical(call: &mut Call, budget: f64) -> Result<f64> {
    let (mut calls, start) = (0, Instant::now());
    while start.elapsed() < Duration::from_millis(12) {
        call()?;
        calls += 1;
    }
    let calls = ((calls as f64 * 0.002 / start.elapsed().as_secs_f64()) as usize).max(1);
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed().as_secs_f64() < budget || times.len() < 3 {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        times.push(start.elapsed().as_secs_f64() / calls as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// What can do a case: several, if candle has it in several ways. None if candle lacks it.
fn calls(case: &Case) -> Result<Vec<Call>> {
    let size = |i: usize| *case.sizes.get(i).unwrap_or(&1);
    let (a, b, c) = (size(0), size(1), size(2));
    Ok(match case.what.as_str() {
        "matmul" => {
            let (x, y) = (numbers(0, 1., 0., &[a, b])?, numbers(1, 1., 0., &[b, c])?);
            vec![Box::new(move || x.matmul(&y))]
        }
        "matmul transposed" => {
            let (x, y) = (numbers(0, 1., 0., &[a, b])?, numbers(1, 1., 0., &[c, b])?);
            vec![Box::new(move || x.matmul(&y.t()?))]
        }
        "add" => {
            let (x, y) = (numbers(0, 1., 0., &[a])?, numbers(1, 1., 0., &[a])?);
            vec![Box::new(move || &x + &y)]
        }
        "gelu" => {
            let x = numbers(0, 1., 0., &[a])?;
            vec![Box::new(move || x.gelu_erf())]
        }
        "gelu tanh" => {
            let x = numbers(0, 1., 0., &[a])?;
            vec![Box::new(move || x.gelu())]
        }
        "sum" => {
            let x = numbers(0, 1., 1., &[a])?;
            vec![Box::new(move || x.sum_all())]
        }
        "softmax" => {
            let x = numbers(0, 1., 0., &[a, b])?;
            vec![Box::new(move || ops::softmax_last_dim(&x))]
        }
        "layer norm" => {
            let (x, weight, bias) = (numbers(0, 1., 0., &[a, b])?, numbers(1, 0.1, 1., &[b])?, numbers(2, 0.1, 0., &[b])?);
            vec![Box::new(move || ops::layer_norm(&x, &weight, &bias, 1e-5))]
        }
        "rms norm" => {
            let (x, weight) = (numbers(0, 1., 0., &[a, b])?, numbers(1, 0.1, 1., &[b])?);
            vec![Box::new(move || ops::rms_norm(&x, &weight, 1e-5))]
        }
        "transpose" => {
            let x = numbers(0, 1., 0., &[a, b])?;
            vec![Box::new(move || x.t()?.contiguous())]
        }
        "embedding" => {
            let table = numbers(0, 1., 0., &[a, b])?;
            let ids = Tensor::from_iter((0..c).map(|i| (7919 * i % a) as u32), &Device::Cpu)?;
            vec![Box::new(move || table.embedding(&ids))]
        }
        "attention" | "causal attention" => attention(case.what.starts_with("causal"), a, b, c)?,
        "training step" => vec![steps(&case.sizes)?],
        _ => vec![],
    })
}

/// The fused attention, whose operands are [1 T H d], and the steps that it consists of, with operands [H T d].
fn attention(causal: bool, heads: usize, tokens: usize, size: usize) -> Result<Vec<Call>> {
    let operand = |seed| numbers(seed, 1., 0., &[heads, tokens, size]);
    let (q, k, v) = (operand(0)?, operand(1)?, operand(2)?);
    let scale = 1. / (size as f64).sqrt();
    let by_token = |t: &Tensor| t.transpose(0, 1)?.unsqueeze(0)?.contiguous();
    let (fq, fk, fv) = (by_token(&q)?, by_token(&k)?, by_token(&v)?);
    let mask: Vec<f32> = (0..tokens * tokens).map(|i| if i % tokens > i / tokens { f32::NEG_INFINITY } else { 0. }).collect();
    let mask = Tensor::from_vec(mask, (tokens, tokens), &Device::Cpu)?;
    Ok(vec![
        Box::new(move || {
            let mask = if causal { AttnMask::causal() } else { AttnMask::None };
            flash_attn::<f32>(&fq, &fk, &fv, scale as f32, mask, None, None)
        }),
        Box::new(move || {
            let mut scores = (q.matmul(&k.t()?)? * scale)?;
            if causal {
                scores = scores.broadcast_add(&mask)?;
            }
            ops::softmax(&scores, D::Minus1)?.matmul(&v)
        }),
    ])
}

/// Trains a model for five steps at the first call, whose losses it returns, and for one more at each call after that.
fn steps(sizes: &[usize]) -> Result<Call> {
    let (batch, inputs, hidden, classes) = (sizes[0], sizes[1], sizes[2], sizes[3]);
    let weight = |seed, inputs: usize, outputs| Var::from_tensor(&numbers(seed, 1. / (inputs as f64).sqrt(), 0., &[outputs, inputs])?);
    let bias = |n: usize| Var::from_tensor(&Tensor::zeros(n, candle_core::DType::F32, &Device::Cpu)?);
    let vars = vec![weight(1, inputs, hidden)?, bias(hidden)?, weight(2, hidden, classes)?, bias(classes)?];
    let first = Linear::new(vars[0].as_tensor().clone(), Some(vars[1].as_tensor().clone()));
    let second = Linear::new(vars[2].as_tensor().clone(), Some(vars[3].as_tensor().clone()));
    let x = numbers(0, 1., 0., &[batch, inputs])?;
    let y = Tensor::from_iter((0..batch).map(|i| (i % classes) as u32), &Device::Cpu)?;
    let mut sgd = SGD::new(vars, 0.1)?;
    let mut step = move || {
        let loss = loss::cross_entropy(&second.forward(&first.forward(&x)?.relu()?)?, &y)?;
        sgd.backward_step(&loss)?;
        Ok(loss.detach())
    };
    let mut begun = false;
    Ok(Box::new(move || {
        if begun {
            return step();
        }
        begun = true;
        Tensor::stack(&(0..5).map(|_| step()).collect::<Result<Vec<_>>>()?, 0)
    }))
}

fn measure(case: &Case) -> Result<Measured> {
    let mut best = Measured::default();
    for mut call in calls(case)? {
        let some = digest(&call()?)?;
        let seconds = typical(&mut call, case.budget)?;
        if best.seconds == 0. || seconds < best.seconds {
            best = Measured { seconds, some };
        }
    }
    Ok(best)
}

/// The version of candle that Cargo.toml asks for.
fn version() -> &'static str {
    let line = include_str!("../Cargo.toml").lines().find(|line| line.starts_with("candle-core"));
    line.and_then(|line| line.split('"').nth(1)).unwrap_or("=?").trim_start_matches('=')
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    writeln!(out, "{:?}", version())?;
    for line in std::io::stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        writeln!(out, "{}", serde_json::to_string(&measure(&case)?)?)?;
        out.flush()?;
    }
    Ok(())
}
