// Generated from openapi/agent.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
const codePoints = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

const executeCodeBody = validate20;
const schema31 = {"$id":"executeCodeBody","$ref":"contract#/$defs/ExecuteRequest"};
const schema33 = {"type":"object","required":["code"],"properties":{"code":{"type":"string"},"language":{"$ref":"contract#/$defs/Language","default":"python"},"timeout":{"default":30,"$ref":"contract#/$defs/ExecutionTimeout"},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"context":{"$ref":"contract#/$defs/ContextName"},"cache":{"default":false,"type":"boolean"}}};
const schema34 = {"type":"string","minLength":1,"maxLength":64};
const schema35 = {"type":"integer","minimum":1,"maximum":300,"default":30};
const schema36 = {"type":["string","null"],"minLength":1,"maxLength":4096,"pattern":"^[^\\u0000]*$"};
const schema38 = {"type":"object","maxProperties":1000,"propertyNames":{"pattern":"^[A-Za-z_][A-Za-z0-9_]*$","maxLength":256},"additionalProperties":{"type":"string","maxLength":32768,"pattern":"^[^\\u0000]*$"}};
const schema39 = {"type":["string","null"],"minLength":1,"maxLength":64};
const func1 = codePoints;
const pattern4 = new RegExp("^[^\\u0000]*$", "u");
const pattern6 = new RegExp("^[A-Za-z_][A-Za-z0-9_]*$", "u");

function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate22.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.language === undefined){
data.language = "python";
}
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.cache === undefined){
data.cache = false;
}
if(data.code === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "code"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.code !== undefined){
if(typeof data.code !== "string"){
const err1 = {instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
let data1 = data.language;
if(typeof data1 === "string"){
if(func1(data1) > 64){
const err2 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data1) < 1){
const err3 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
let data2 = data.timeout;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err5 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 300 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.workdir !== undefined){
let data3 = data.workdir;
if((typeof data3 !== "string") && (data3 !== null)){
const err8 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(typeof data3 === "string"){
if(func1(data3) > 4096){
const err9 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(func1(data3) < 1){
const err10 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!pattern4.test(data3)){
const err11 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data4 = data.working_dir;
if((typeof data4 !== "string") && (data4 !== null)){
const err12 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(typeof data4 === "string"){
if(func1(data4) > 4096){
const err13 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(func1(data4) < 1){
const err14 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!pattern4.test(data4)){
const err15 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
if(data.env !== undefined){
let data5 = data.env;
const _errs16 = errors;
let valid5 = false;
let passing0 = null;
const _errs17 = errors;
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
if(Object.keys(data5).length > 1000){
const err16 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
for(const key0 in data5){
const _errs20 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err17 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern6.test(key0)){
const err18 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
var valid7 = _errs20 === errors;
if(!valid7){
const err19 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
for(const key1 in data5){
let data6 = data5[key1];
if(typeof data6 === "string"){
if(func1(data6) > 32768){
const err20 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern4.test(data6)){
const err21 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
else {
const err22 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
var _valid0 = _errs17 === errors;
if(_valid0){
valid5 = true;
passing0 = 0;
}
const _errs24 = errors;
if(data5 !== null){
const err24 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var _valid0 = _errs24 === errors;
if(_valid0 && valid5){
valid5 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid5 = true;
passing0 = 1;
}
}
if(!valid5){
const err25 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
}
if(data.context !== undefined){
let data7 = data.context;
if((typeof data7 !== "string") && (data7 !== null)){
const err26 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/type",keyword:"type",params:{type: schema39.type}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(typeof data7 === "string"){
if(func1(data7) > 64){
const err27 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(func1(data7) < 1){
const err28 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
if(typeof data.cache !== "boolean"){
const err29 = {instancePath:instancePath+"/cache",schemaPath:"#/properties/cache/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
else {
const err30 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
validate22.errors = vErrors;
return errors === 0;
}
validate22.evaluated = {"props":{"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"cache":true},"dynamicProps":false,"dynamicItems":false};


function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate22(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);
errors = vErrors.length;
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":{"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"cache":true},"dynamicProps":false,"dynamicItems":false};

const executeRichBody = validate24;
const schema40 = {"$id":"executeRichBody","$ref":"contract#/$defs/ExecuteRichRequest"};
const schema41 = {"allOf":[{"$ref":"contract#/$defs/ExecuteRequest"}],"type":"object","properties":{"capture_rich":{"default":true,"type":"boolean"}}};

function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate26.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.language === undefined){
data.language = "python";
}
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.cache === undefined){
data.cache = false;
}
if(data.code === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "code"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.code !== undefined){
if(typeof data.code !== "string"){
const err1 = {instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
let data1 = data.language;
if(typeof data1 === "string"){
if(func1(data1) > 64){
const err2 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data1) < 1){
const err3 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
let data2 = data.timeout;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err5 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 300 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.workdir !== undefined){
let data3 = data.workdir;
if((typeof data3 !== "string") && (data3 !== null)){
const err8 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(typeof data3 === "string"){
if(func1(data3) > 4096){
const err9 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(func1(data3) < 1){
const err10 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!pattern4.test(data3)){
const err11 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data4 = data.working_dir;
if((typeof data4 !== "string") && (data4 !== null)){
const err12 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(typeof data4 === "string"){
if(func1(data4) > 4096){
const err13 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(func1(data4) < 1){
const err14 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!pattern4.test(data4)){
const err15 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
if(data.env !== undefined){
let data5 = data.env;
const _errs16 = errors;
let valid5 = false;
let passing0 = null;
const _errs17 = errors;
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
if(Object.keys(data5).length > 1000){
const err16 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
for(const key0 in data5){
const _errs20 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err17 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern6.test(key0)){
const err18 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
var valid7 = _errs20 === errors;
if(!valid7){
const err19 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
for(const key1 in data5){
let data6 = data5[key1];
if(typeof data6 === "string"){
if(func1(data6) > 32768){
const err20 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern4.test(data6)){
const err21 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
else {
const err22 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
var _valid0 = _errs17 === errors;
if(_valid0){
valid5 = true;
passing0 = 0;
}
const _errs24 = errors;
if(data5 !== null){
const err24 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var _valid0 = _errs24 === errors;
if(_valid0 && valid5){
valid5 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid5 = true;
passing0 = 1;
}
}
if(!valid5){
const err25 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
}
if(data.context !== undefined){
let data7 = data.context;
if((typeof data7 !== "string") && (data7 !== null)){
const err26 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/type",keyword:"type",params:{type: schema39.type}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
if(typeof data7 === "string"){
if(func1(data7) > 64){
const err27 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(func1(data7) < 1){
const err28 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
if(typeof data.cache !== "boolean"){
const err29 = {instancePath:instancePath+"/cache",schemaPath:"#/properties/cache/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
else {
const err30 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
validate26.errors = vErrors;
return errors === 0;
}
validate26.evaluated = {"props":{"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"cache":true},"dynamicProps":false,"dynamicItems":false};


function validate25(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate25.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate26(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.capture_rich === undefined){
data.capture_rich = true;
}
if(typeof data.capture_rich !== "boolean"){
const err0 = {instancePath:instancePath+"/capture_rich",schemaPath:"#/properties/capture_rich/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate25.errors = vErrors;
return errors === 0;
}
validate25.evaluated = {"props":{"capture_rich":true,"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"cache":true},"dynamicProps":false,"dynamicItems":false};


function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate24.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate25(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate25.errors : vErrors.concat(validate25.errors);
errors = vErrors.length;
}
validate24.errors = vErrors;
return errors === 0;
}
validate24.evaluated = {"props":{"capture_rich":true,"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"cache":true},"dynamicProps":false,"dynamicItems":false};

const executeIpythonBody = validate29;
const schema49 = {"$id":"executeIpythonBody","$ref":"contract#/$defs/ExecuteIpythonRequest"};
const schema50 = {"type":"object","required":["code"],"properties":{"code":{"type":"string"},"timeout":{"default":30,"$ref":"contract#/$defs/ExecutionTimeout"},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"context":{"$ref":"contract#/$defs/ContextName"}}};

function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate30.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.code === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "code"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.code !== undefined){
if(typeof data.code !== "string"){
const err1 = {instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
let data1 = data.timeout;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err2 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 300 || isNaN(data1)){
const err3 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.workdir !== undefined){
let data2 = data.workdir;
if((typeof data2 !== "string") && (data2 !== null)){
const err5 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(typeof data2 === "string"){
if(func1(data2) > 4096){
const err6 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(func1(data2) < 1){
const err7 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(!pattern4.test(data2)){
const err8 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data3 = data.working_dir;
if((typeof data3 !== "string") && (data3 !== null)){
const err9 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(typeof data3 === "string"){
if(func1(data3) > 4096){
const err10 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(func1(data3) < 1){
const err11 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!pattern4.test(data3)){
const err12 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
if(data.env !== undefined){
let data4 = data.env;
const _errs13 = errors;
let valid4 = false;
let passing0 = null;
const _errs14 = errors;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(Object.keys(data4).length > 1000){
const err13 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
for(const key0 in data4){
const _errs17 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err14 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!pattern6.test(key0)){
const err15 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
var valid6 = _errs17 === errors;
if(!valid6){
const err16 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
for(const key1 in data4){
let data5 = data4[key1];
if(typeof data5 === "string"){
if(func1(data5) > 32768){
const err17 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern4.test(data5)){
const err18 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
var _valid0 = _errs14 === errors;
if(_valid0){
valid4 = true;
passing0 = 0;
}
const _errs21 = errors;
if(data4 !== null){
const err21 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
var _valid0 = _errs21 === errors;
if(_valid0 && valid4){
valid4 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid4 = true;
passing0 = 1;
}
}
if(!valid4){
const err22 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
else {
errors = _errs13;
if(vErrors !== null){
if(_errs13){
vErrors.length = _errs13;
}
else {
vErrors = null;
}
}
}
}
if(data.context !== undefined){
let data6 = data.context;
if((typeof data6 !== "string") && (data6 !== null)){
const err23 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/type",keyword:"type",params:{type: schema39.type}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(typeof data6 === "string"){
if(func1(data6) > 64){
const err24 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(func1(data6) < 1){
const err25 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
}
else {
const err26 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
validate30.errors = vErrors;
return errors === 0;
}
validate30.evaluated = {"props":{"code":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true},"dynamicProps":false,"dynamicItems":false};


function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate29.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate30(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
validate29.errors = vErrors;
return errors === 0;
}
validate29.evaluated = {"props":{"code":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true},"dynamicProps":false,"dynamicItems":false};

const executeBackgroundBody = validate32;
const schema56 = {"$id":"executeBackgroundBody","$ref":"contract#/$defs/BackgroundExecuteRequest"};
const schema57 = {"type":"object","required":["code"],"properties":{"code":{"type":"string"},"language":{"$ref":"contract#/$defs/Language","default":"python"},"timeout":{"default":300,"type":"integer","minimum":1,"maximum":86400},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"name":{"type":["string","null"],"maxLength":200},"context":{"type":["string","null"],"minLength":1,"maxLength":64},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"}}};

function validate33(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate33.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.language === undefined){
data.language = "python";
}
if(data.timeout === undefined){
data.timeout = 300;
}
if(data.code === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "code"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.code !== undefined){
if(typeof data.code !== "string"){
const err1 = {instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
let data1 = data.language;
if(typeof data1 === "string"){
if(func1(data1) > 64){
const err2 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data1) < 1){
const err3 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
let data2 = data.timeout;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err5 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 86400 || isNaN(data2)){
const err6 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.env !== undefined){
let data3 = data.env;
const _errs9 = errors;
let valid2 = false;
let passing0 = null;
const _errs10 = errors;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(Object.keys(data3).length > 1000){
const err8 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
for(const key0 in data3){
const _errs13 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err9 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(!pattern6.test(key0)){
const err10 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
var valid4 = _errs13 === errors;
if(!valid4){
const err11 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
for(const key1 in data3){
let data4 = data3[key1];
if(typeof data4 === "string"){
if(func1(data4) > 32768){
const err12 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(!pattern4.test(data4)){
const err13 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
else {
const err14 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
var _valid0 = _errs10 === errors;
if(_valid0){
valid2 = true;
passing0 = 0;
}
const _errs17 = errors;
if(data3 !== null){
const err16 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
var _valid0 = _errs17 === errors;
if(_valid0 && valid2){
valid2 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid2 = true;
passing0 = 1;
}
}
if(!valid2){
const err17 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
else {
errors = _errs9;
if(vErrors !== null){
if(_errs9){
vErrors.length = _errs9;
}
else {
vErrors = null;
}
}
}
}
if(data.name !== undefined){
let data5 = data.name;
if((typeof data5 !== "string") && (data5 !== null)){
const err18 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: schema57.properties.name.type}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(typeof data5 === "string"){
if(func1(data5) > 200){
const err19 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
if(data.context !== undefined){
let data6 = data.context;
if((typeof data6 !== "string") && (data6 !== null)){
const err20 = {instancePath:instancePath+"/context",schemaPath:"#/properties/context/type",keyword:"type",params:{type: schema57.properties.context.type}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(typeof data6 === "string"){
if(func1(data6) > 64){
const err21 = {instancePath:instancePath+"/context",schemaPath:"#/properties/context/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(func1(data6) < 1){
const err22 = {instancePath:instancePath+"/context",schemaPath:"#/properties/context/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data.workdir !== undefined){
let data7 = data.workdir;
if((typeof data7 !== "string") && (data7 !== null)){
const err23 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(typeof data7 === "string"){
if(func1(data7) > 4096){
const err24 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(func1(data7) < 1){
const err25 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
if(!pattern4.test(data7)){
const err26 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data8 = data.working_dir;
if((typeof data8 !== "string") && (data8 !== null)){
const err27 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(typeof data8 === "string"){
if(func1(data8) > 4096){
const err28 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if(func1(data8) < 1){
const err29 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(!pattern4.test(data8)){
const err30 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
}
else {
const err31 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
validate33.errors = vErrors;
return errors === 0;
}
validate33.evaluated = {"props":{"code":true,"language":true,"timeout":true,"env":true,"name":true,"context":true,"workdir":true,"working_dir":true},"dynamicProps":false,"dynamicItems":false};


function validate32(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate32.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate33(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate33.errors : vErrors.concat(validate33.errors);
errors = vErrors.length;
}
validate32.errors = vErrors;
return errors === 0;
}
validate32.evaluated = {"props":{"code":true,"language":true,"timeout":true,"env":true,"name":true,"context":true,"workdir":true,"working_dir":true},"dynamicProps":false,"dynamicItems":false};

const executeAsyncBody = validate35;
const schema62 = {"$id":"executeAsyncBody","$ref":"contract#/$defs/AsyncExecuteRequest"};
const schema63 = {"type":"object","required":["code","callback_url"],"properties":{"code":{"type":"string"},"callback_url":{"type":"string","format":"uri","maxLength":2048},"callback_headers":{"type":["object","null"],"maxProperties":50,"additionalProperties":{"type":"string","maxLength":8192}},"callback_signature_secret":{"type":["string","null"],"maxLength":1024},"language":{"$ref":"contract#/$defs/Language","default":"python"},"timeout":{"default":3600,"type":"integer","minimum":1,"maximum":86400},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"name":{"type":["string","null"],"maxLength":200}}};
const formats0 = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+\S*$/i;

function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate36.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.language === undefined){
data.language = "python";
}
if(data.timeout === undefined){
data.timeout = 3600;
}
if(data.code === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "code"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.callback_url === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "callback_url"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.code !== undefined){
if(typeof data.code !== "string"){
const err2 = {instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.callback_url !== undefined){
let data1 = data.callback_url;
if(typeof data1 === "string"){
if(func1(data1) > 2048){
const err3 = {instancePath:instancePath+"/callback_url",schemaPath:"#/properties/callback_url/maxLength",keyword:"maxLength",params:{limit: 2048}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!(formats0.test(data1))){
const err4 = {instancePath:instancePath+"/callback_url",schemaPath:"#/properties/callback_url/format",keyword:"format",params:{format: "uri"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/callback_url",schemaPath:"#/properties/callback_url/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.callback_headers !== undefined){
let data2 = data.callback_headers;
if((!(data2 && typeof data2 == "object" && !Array.isArray(data2))) && (data2 !== null)){
const err6 = {instancePath:instancePath+"/callback_headers",schemaPath:"#/properties/callback_headers/type",keyword:"type",params:{type: schema63.properties.callback_headers.type}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(Object.keys(data2).length > 50){
const err7 = {instancePath:instancePath+"/callback_headers",schemaPath:"#/properties/callback_headers/maxProperties",keyword:"maxProperties",params:{limit: 50}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
for(const key0 in data2){
let data3 = data2[key0];
if(typeof data3 === "string"){
if(func1(data3) > 8192){
const err8 = {instancePath:instancePath+"/callback_headers/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/callback_headers/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 8192}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/callback_headers/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/callback_headers/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
if(data.callback_signature_secret !== undefined){
let data4 = data.callback_signature_secret;
if((typeof data4 !== "string") && (data4 !== null)){
const err10 = {instancePath:instancePath+"/callback_signature_secret",schemaPath:"#/properties/callback_signature_secret/type",keyword:"type",params:{type: schema63.properties.callback_signature_secret.type}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(typeof data4 === "string"){
if(func1(data4) > 1024){
const err11 = {instancePath:instancePath+"/callback_signature_secret",schemaPath:"#/properties/callback_signature_secret/maxLength",keyword:"maxLength",params:{limit: 1024}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
let data5 = data.language;
if(typeof data5 === "string"){
if(func1(data5) > 64){
const err12 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(func1(data5) < 1){
const err13 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
else {
const err14 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
let data6 = data.timeout;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err15 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 86400 || isNaN(data6)){
const err16 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(data6 < 1 || isNaN(data6)){
const err17 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.workdir !== undefined){
let data7 = data.workdir;
if((typeof data7 !== "string") && (data7 !== null)){
const err18 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(typeof data7 === "string"){
if(func1(data7) > 4096){
const err19 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(func1(data7) < 1){
const err20 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern4.test(data7)){
const err21 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data8 = data.working_dir;
if((typeof data8 !== "string") && (data8 !== null)){
const err22 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(typeof data8 === "string"){
if(func1(data8) > 4096){
const err23 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(func1(data8) < 1){
const err24 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(!pattern4.test(data8)){
const err25 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
if(data.env !== undefined){
let data9 = data.env;
const _errs24 = errors;
let valid5 = false;
let passing0 = null;
const _errs25 = errors;
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
if(Object.keys(data9).length > 1000){
const err26 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
for(const key1 in data9){
const _errs28 = errors;
if(typeof key1 === "string"){
if(func1(key1) > 256){
const err27 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key1};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
if(!pattern6.test(key1)){
const err28 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key1};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
var valid7 = _errs28 === errors;
if(!valid7){
const err29 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key1}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
for(const key2 in data9){
let data10 = data9[key2];
if(typeof data10 === "string"){
if(func1(data10) > 32768){
const err30 = {instancePath:instancePath+"/env/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(!pattern4.test(data10)){
const err31 = {instancePath:instancePath+"/env/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
else {
const err32 = {instancePath:instancePath+"/env/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
var _valid0 = _errs25 === errors;
if(_valid0){
valid5 = true;
passing0 = 0;
}
const _errs32 = errors;
if(data9 !== null){
const err34 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
var _valid0 = _errs32 === errors;
if(_valid0 && valid5){
valid5 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid5 = true;
passing0 = 1;
}
}
if(!valid5){
const err35 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
else {
errors = _errs24;
if(vErrors !== null){
if(_errs24){
vErrors.length = _errs24;
}
else {
vErrors = null;
}
}
}
}
if(data.name !== undefined){
let data11 = data.name;
if((typeof data11 !== "string") && (data11 !== null)){
const err36 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: schema63.properties.name.type}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(typeof data11 === "string"){
if(func1(data11) > 200){
const err37 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
}
else {
const err38 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
validate36.errors = vErrors;
return errors === 0;
}
validate36.evaluated = {"props":{"code":true,"callback_url":true,"callback_headers":true,"callback_signature_secret":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"name":true},"dynamicProps":false,"dynamicItems":false};


function validate35(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate35.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate36(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
validate35.errors = vErrors;
return errors === 0;
}
validate35.evaluated = {"props":{"code":true,"callback_url":true,"callback_headers":true,"callback_signature_secret":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"name":true},"dynamicProps":false,"dynamicItems":false};

const killExecutionQuery = validate38;
const schema68 = {"$id":"killExecutionQuery","type":"object","properties":{"process_id":{"type":"string","minLength":1,"maxLength":200}},"required":["process_id"]};

function validate38(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate38.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.process_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "process_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.process_id !== undefined){
let data0 = data.process_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err1 = {instancePath:instancePath+"/process_id",schemaPath:"#/properties/process_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/process_id",schemaPath:"#/properties/process_id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/process_id",schemaPath:"#/properties/process_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate38.errors = vErrors;
return errors === 0;
}
validate38.evaluated = {"props":{"process_id":true},"dynamicProps":false,"dynamicItems":false};

const frameExecuteStreamRequest = validate39;
const schema69 = {"$id":"frameExecuteStreamRequest","$ref":"contract#/$defs/ExecuteStreamRequest"};
const schema70 = {"type":"object","required":["type","code"],"properties":{"type":{"type":"string","const":"execute"},"code":{"type":"string"},"language":{"$ref":"contract#/$defs/Language","default":"python"},"timeout":{"default":30,"$ref":"contract#/$defs/ExecutionTimeout"},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"context":{"$ref":"contract#/$defs/ContextName"},"capture_rich":{"type":"boolean"}}};

function validate40(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate40.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.language === undefined){
data.language = "python";
}
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.code === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "code"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("execute" !== data0){
const err3 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/const",keyword:"const",params:{allowedValue: "execute"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.code !== undefined){
if(typeof data.code !== "string"){
const err4 = {instancePath:instancePath+"/code",schemaPath:"#/properties/code/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
let data2 = data.language;
if(typeof data2 === "string"){
if(func1(data2) > 64){
const err5 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(func1(data2) < 1){
const err6 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/Language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
let data3 = data.timeout;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err8 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 300 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.workdir !== undefined){
let data4 = data.workdir;
if((typeof data4 !== "string") && (data4 !== null)){
const err11 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(typeof data4 === "string"){
if(func1(data4) > 4096){
const err12 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(func1(data4) < 1){
const err13 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(!pattern4.test(data4)){
const err14 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data5 = data.working_dir;
if((typeof data5 !== "string") && (data5 !== null)){
const err15 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(typeof data5 === "string"){
if(func1(data5) > 4096){
const err16 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(func1(data5) < 1){
const err17 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern4.test(data5)){
const err18 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.env !== undefined){
let data6 = data.env;
const _errs18 = errors;
let valid5 = false;
let passing0 = null;
const _errs19 = errors;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(Object.keys(data6).length > 1000){
const err19 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
for(const key0 in data6){
const _errs22 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err20 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern6.test(key0)){
const err21 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
var valid7 = _errs22 === errors;
if(!valid7){
const err22 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
for(const key1 in data6){
let data7 = data6[key1];
if(typeof data7 === "string"){
if(func1(data7) > 32768){
const err23 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!pattern4.test(data7)){
const err24 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
var _valid0 = _errs19 === errors;
if(_valid0){
valid5 = true;
passing0 = 0;
}
const _errs26 = errors;
if(data6 !== null){
const err27 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
var _valid0 = _errs26 === errors;
if(_valid0 && valid5){
valid5 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid5 = true;
passing0 = 1;
}
}
if(!valid5){
const err28 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
else {
errors = _errs18;
if(vErrors !== null){
if(_errs18){
vErrors.length = _errs18;
}
else {
vErrors = null;
}
}
}
}
if(data.context !== undefined){
let data8 = data.context;
if((typeof data8 !== "string") && (data8 !== null)){
const err29 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/type",keyword:"type",params:{type: schema39.type}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(typeof data8 === "string"){
if(func1(data8) > 64){
const err30 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(func1(data8) < 1){
const err31 = {instancePath:instancePath+"/context",schemaPath:"contract#/$defs/ContextName/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
if(data.capture_rich !== undefined){
if(typeof data.capture_rich !== "boolean"){
const err32 = {instancePath:instancePath+"/capture_rich",schemaPath:"#/properties/capture_rich/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
validate40.errors = vErrors;
return errors === 0;
}
validate40.evaluated = {"props":{"type":true,"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"capture_rich":true},"dynamicProps":false,"dynamicItems":false};


function validate39(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate39.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate40(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate40.errors : vErrors.concat(validate40.errors);
errors = vErrors.length;
}
validate39.errors = vErrors;
return errors === 0;
}
validate39.evaluated = {"props":{"type":true,"code":true,"language":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"context":true,"capture_rich":true},"dynamicProps":false,"dynamicItems":false};

const frameCancel = validate42;
const schema77 = {"$id":"frameCancel","$ref":"contract#/$defs/CancelFrame"};
const schema78 = {"type":"object","required":["type"],"properties":{"type":{"type":"string","const":"cancel"}}};

function validate42(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate42.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/CancelFrame/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/CancelFrame/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if("cancel" !== data0){
const err2 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/CancelFrame/properties/type/const",keyword:"const",params:{allowedValue: "cancel"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"contract#/$defs/CancelFrame/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate42.errors = vErrors;
return errors === 0;
}
validate42.evaluated = {"props":{"type":true},"dynamicProps":false,"dynamicItems":false};

const runCommandBody = validate43;
const schema79 = {"$id":"runCommandBody","$ref":"contract#/$defs/CommandRequest"};
const schema80 = {"type":"object","required":["command"],"properties":{"command":{"type":"string","minLength":1,"pattern":"^[^\\u0000]*$"},"args":{"type":["array","null"],"maxItems":10000,"items":{"type":"string","pattern":"^[^\\u0000]*$"}},"timeout":{"default":30,"$ref":"contract#/$defs/ExecutionTimeout"},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]}}};

function validate44(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate44.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.command === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "command"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.command !== undefined){
let data0 = data.command;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern4.test(data0)){
const err2 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.args !== undefined){
let data1 = data.args;
if((!(Array.isArray(data1))) && (data1 !== null)){
const err4 = {instancePath:instancePath+"/args",schemaPath:"#/properties/args/type",keyword:"type",params:{type: schema80.properties.args.type}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(Array.isArray(data1)){
if(data1.length > 10000){
const err5 = {instancePath:instancePath+"/args",schemaPath:"#/properties/args/maxItems",keyword:"maxItems",params:{limit: 10000}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(typeof data2 === "string"){
if(!pattern4.test(data2)){
const err6 = {instancePath:instancePath+"/args/" + i0,schemaPath:"#/properties/args/items/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/args/" + i0,schemaPath:"#/properties/args/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
let data3 = data.timeout;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err8 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 300 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.workdir !== undefined){
let data4 = data.workdir;
if((typeof data4 !== "string") && (data4 !== null)){
const err11 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(typeof data4 === "string"){
if(func1(data4) > 4096){
const err12 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(func1(data4) < 1){
const err13 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(!pattern4.test(data4)){
const err14 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data5 = data.working_dir;
if((typeof data5 !== "string") && (data5 !== null)){
const err15 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(typeof data5 === "string"){
if(func1(data5) > 4096){
const err16 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(func1(data5) < 1){
const err17 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern4.test(data5)){
const err18 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.env !== undefined){
let data6 = data.env;
const _errs17 = errors;
let valid6 = false;
let passing0 = null;
const _errs18 = errors;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(Object.keys(data6).length > 1000){
const err19 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
for(const key0 in data6){
const _errs21 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err20 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern6.test(key0)){
const err21 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
var valid8 = _errs21 === errors;
if(!valid8){
const err22 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
for(const key1 in data6){
let data7 = data6[key1];
if(typeof data7 === "string"){
if(func1(data7) > 32768){
const err23 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!pattern4.test(data7)){
const err24 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
var _valid0 = _errs18 === errors;
if(_valid0){
valid6 = true;
passing0 = 0;
}
const _errs25 = errors;
if(data6 !== null){
const err27 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
var _valid0 = _errs25 === errors;
if(_valid0 && valid6){
valid6 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid6 = true;
passing0 = 1;
}
}
if(!valid6){
const err28 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
else {
errors = _errs17;
if(vErrors !== null){
if(_errs17){
vErrors.length = _errs17;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err29 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
validate44.errors = vErrors;
return errors === 0;
}
validate44.evaluated = {"props":{"command":true,"args":true,"timeout":true,"workdir":true,"working_dir":true,"env":true},"dynamicProps":false,"dynamicItems":false};


function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate43.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate44(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate44.errors : vErrors.concat(validate44.errors);
errors = vErrors.length;
}
validate43.errors = vErrors;
return errors === 0;
}
validate43.evaluated = {"props":{"command":true,"args":true,"timeout":true,"workdir":true,"working_dir":true,"env":true},"dynamicProps":false,"dynamicItems":false};

const runCommandBackgroundBody = validate46;
const schema85 = {"$id":"runCommandBackgroundBody","$ref":"contract#/$defs/BackgroundCommandRequest"};
const schema86 = {"type":"object","required":["command"],"properties":{"command":{"type":"string","minLength":1,"pattern":"^[^\\u0000]*$"},"args":{"type":["array","null"],"maxItems":10000,"items":{"type":"string","pattern":"^[^\\u0000]*$"}},"timeout":{"default":300,"type":"integer","minimum":1,"maximum":86400},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"name":{"type":["string","null"],"maxLength":200}}};

function validate47(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate47.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.timeout === undefined){
data.timeout = 300;
}
if(data.command === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "command"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.command !== undefined){
let data0 = data.command;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!pattern4.test(data0)){
const err2 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.args !== undefined){
let data1 = data.args;
if((!(Array.isArray(data1))) && (data1 !== null)){
const err4 = {instancePath:instancePath+"/args",schemaPath:"#/properties/args/type",keyword:"type",params:{type: schema86.properties.args.type}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(Array.isArray(data1)){
if(data1.length > 10000){
const err5 = {instancePath:instancePath+"/args",schemaPath:"#/properties/args/maxItems",keyword:"maxItems",params:{limit: 10000}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(typeof data2 === "string"){
if(!pattern4.test(data2)){
const err6 = {instancePath:instancePath+"/args/" + i0,schemaPath:"#/properties/args/items/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/args/" + i0,schemaPath:"#/properties/args/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
let data3 = data.timeout;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err8 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 86400 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.workdir !== undefined){
let data4 = data.workdir;
if((typeof data4 !== "string") && (data4 !== null)){
const err11 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(typeof data4 === "string"){
if(func1(data4) > 4096){
const err12 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(func1(data4) < 1){
const err13 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(!pattern4.test(data4)){
const err14 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data5 = data.working_dir;
if((typeof data5 !== "string") && (data5 !== null)){
const err15 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(typeof data5 === "string"){
if(func1(data5) > 4096){
const err16 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(func1(data5) < 1){
const err17 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern4.test(data5)){
const err18 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.env !== undefined){
let data6 = data.env;
const _errs16 = errors;
let valid5 = false;
let passing0 = null;
const _errs17 = errors;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(Object.keys(data6).length > 1000){
const err19 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
for(const key0 in data6){
const _errs20 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err20 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern6.test(key0)){
const err21 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
var valid7 = _errs20 === errors;
if(!valid7){
const err22 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
for(const key1 in data6){
let data7 = data6[key1];
if(typeof data7 === "string"){
if(func1(data7) > 32768){
const err23 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!pattern4.test(data7)){
const err24 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
var _valid0 = _errs17 === errors;
if(_valid0){
valid5 = true;
passing0 = 0;
}
const _errs24 = errors;
if(data6 !== null){
const err27 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
var _valid0 = _errs24 === errors;
if(_valid0 && valid5){
valid5 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid5 = true;
passing0 = 1;
}
}
if(!valid5){
const err28 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
}
if(data.name !== undefined){
let data8 = data.name;
if((typeof data8 !== "string") && (data8 !== null)){
const err29 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: schema86.properties.name.type}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if(typeof data8 === "string"){
if(func1(data8) > 200){
const err30 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
}
else {
const err31 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
validate47.errors = vErrors;
return errors === 0;
}
validate47.evaluated = {"props":{"command":true,"args":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"name":true},"dynamicProps":false,"dynamicItems":false};


function validate46(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate46.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate47(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate47.errors : vErrors.concat(validate47.errors);
errors = vErrors.length;
}
validate46.errors = vErrors;
return errors === 0;
}
validate46.evaluated = {"props":{"command":true,"args":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"name":true},"dynamicProps":false,"dynamicItems":false};

const frameCommandStreamRequest = validate49;
const schema90 = {"$id":"frameCommandStreamRequest","$ref":"contract#/$defs/CommandStreamRequest"};
const schema91 = {"type":"object","required":["command"],"properties":{"type":{"default":"execute","type":"string","enum":["execute","command"]},"command":{"type":"string","minLength":1},"args":{"type":["array","null"],"maxItems":10000,"items":{"type":"string"}},"timeout":{"default":30,"$ref":"contract#/$defs/ExecutionTimeout"},"workdir":{"$ref":"contract#/$defs/WorkingDirectory"},"working_dir":{"$ref":"contract#/$defs/WorkingDirectory"},"env":{"oneOf":[{"$ref":"contract#/$defs/EnvironmentVariables"},{"type":"null"}]},"stdin":{"default":true,"type":"boolean"}}};

function validate50(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate50.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
data.type = "execute";
}
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.stdin === undefined){
data.stdin = true;
}
if(data.command === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "command"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
let data0 = data.type;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!((data0 === "execute") || (data0 === "command"))){
const err2 = {instancePath:instancePath+"/type",schemaPath:"#/properties/type/enum",keyword:"enum",params:{allowedValues: schema91.properties.type.enum}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.command !== undefined){
let data1 = data.command;
if(typeof data1 === "string"){
if(func1(data1) < 1){
const err3 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/command",schemaPath:"#/properties/command/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.args !== undefined){
let data2 = data.args;
if((!(Array.isArray(data2))) && (data2 !== null)){
const err5 = {instancePath:instancePath+"/args",schemaPath:"#/properties/args/type",keyword:"type",params:{type: schema91.properties.args.type}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(Array.isArray(data2)){
if(data2.length > 10000){
const err6 = {instancePath:instancePath+"/args",schemaPath:"#/properties/args/maxItems",keyword:"maxItems",params:{limit: 10000}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
if(typeof data2[i0] !== "string"){
const err7 = {instancePath:instancePath+"/args/" + i0,schemaPath:"#/properties/args/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
let data4 = data.timeout;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err8 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 300 || isNaN(data4)){
const err9 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err10 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/ExecutionTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.workdir !== undefined){
let data5 = data.workdir;
if((typeof data5 !== "string") && (data5 !== null)){
const err11 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(typeof data5 === "string"){
if(func1(data5) > 4096){
const err12 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(func1(data5) < 1){
const err13 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(!pattern4.test(data5)){
const err14 = {instancePath:instancePath+"/workdir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
if(data.working_dir !== undefined){
let data6 = data.working_dir;
if((typeof data6 !== "string") && (data6 !== null)){
const err15 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/type",keyword:"type",params:{type: schema36.type}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(typeof data6 === "string"){
if(func1(data6) > 4096){
const err16 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
if(func1(data6) < 1){
const err17 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!pattern4.test(data6)){
const err18 = {instancePath:instancePath+"/working_dir",schemaPath:"contract#/$defs/WorkingDirectory/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data.env !== undefined){
let data7 = data.env;
const _errs19 = errors;
let valid6 = false;
let passing0 = null;
const _errs20 = errors;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(Object.keys(data7).length > 1000){
const err19 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
for(const key0 in data7){
const _errs23 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err20 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(!pattern6.test(key0)){
const err21 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
var valid8 = _errs23 === errors;
if(!valid8){
const err22 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
for(const key1 in data7){
let data8 = data7[key1];
if(typeof data8 === "string"){
if(func1(data8) > 32768){
const err23 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(!pattern4.test(data8)){
const err24 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/env/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/env",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
var _valid0 = _errs20 === errors;
if(_valid0){
valid6 = true;
passing0 = 0;
}
const _errs27 = errors;
if(data7 !== null){
const err27 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
var _valid0 = _errs27 === errors;
if(_valid0 && valid6){
valid6 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid6 = true;
passing0 = 1;
}
}
if(!valid6){
const err28 = {instancePath:instancePath+"/env",schemaPath:"#/properties/env/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
else {
errors = _errs19;
if(vErrors !== null){
if(_errs19){
vErrors.length = _errs19;
}
else {
vErrors = null;
}
}
}
}
if(typeof data.stdin !== "boolean"){
const err29 = {instancePath:instancePath+"/stdin",schemaPath:"#/properties/stdin/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
else {
const err30 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
validate50.errors = vErrors;
return errors === 0;
}
validate50.evaluated = {"props":{"type":true,"command":true,"args":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"stdin":true},"dynamicProps":false,"dynamicItems":false};


function validate49(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate49.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate50(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate50.errors : vErrors.concat(validate50.errors);
errors = vErrors.length;
}
validate49.errors = vErrors;
return errors === 0;
}
validate49.evaluated = {"props":{"type":true,"command":true,"args":true,"timeout":true,"workdir":true,"working_dir":true,"env":true,"stdin":true},"dynamicProps":false,"dynamicItems":false};

const frameStdin = validate52;
const schema96 = {"$id":"frameStdin","$ref":"contract#/$defs/StdinFrame"};
const schema97 = {"type":"object","required":["type","data"],"properties":{"type":{"type":"string","const":"stdin"},"data":{"type":"string"},"encoding":{"default":"utf-8","type":"string","enum":["utf-8","base64"]}}};

function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate52.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.encoding === undefined){
data.encoding = "utf-8";
}
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/StdinFrame/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.data === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/StdinFrame/required",keyword:"required",params:{missingProperty: "data"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/StdinFrame/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("stdin" !== data0){
const err3 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/StdinFrame/properties/type/const",keyword:"const",params:{allowedValue: "stdin"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.data !== undefined){
if(typeof data.data !== "string"){
const err4 = {instancePath:instancePath+"/data",schemaPath:"contract#/$defs/StdinFrame/properties/data/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
let data2 = data.encoding;
if(typeof data2 !== "string"){
const err5 = {instancePath:instancePath+"/encoding",schemaPath:"contract#/$defs/StdinFrame/properties/encoding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((data2 === "utf-8") || (data2 === "base64"))){
const err6 = {instancePath:instancePath+"/encoding",schemaPath:"contract#/$defs/StdinFrame/properties/encoding/enum",keyword:"enum",params:{allowedValues: schema97.properties.encoding.enum}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath,schemaPath:"contract#/$defs/StdinFrame/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate52.errors = vErrors;
return errors === 0;
}
validate52.evaluated = {"props":{"type":true,"data":true,"encoding":true},"dynamicProps":false,"dynamicItems":false};

const frameStdinClose = validate53;
const schema98 = {"$id":"frameStdinClose","$ref":"contract#/$defs/StdinCloseFrame"};
const schema99 = {"type":"object","required":["type"],"properties":{"type":{"type":"string","const":"stdin_close"}}};

function validate53(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate53.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/StdinCloseFrame/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/StdinCloseFrame/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if("stdin_close" !== data0){
const err2 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/StdinCloseFrame/properties/type/const",keyword:"const",params:{allowedValue: "stdin_close"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"contract#/$defs/StdinCloseFrame/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate53.errors = vErrors;
return errors === 0;
}
validate53.evaluated = {"props":{"type":true},"dynamicProps":false,"dynamicItems":false};

const frameSignal = validate54;
const schema100 = {"$id":"frameSignal","$ref":"contract#/$defs/SignalFrame"};
const schema101 = {"type":"object","required":["type","signal"],"properties":{"type":{"type":"string","const":"signal"},"signal":{"type":"string","enum":["SIGHUP","SIGINT","SIGQUIT","SIGKILL","SIGTERM","SIGUSR1","SIGUSR2","SIGSTOP","SIGCONT","SIGWINCH"]}}};

function validate54(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate54.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/SignalFrame/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.signal === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/SignalFrame/required",keyword:"required",params:{missingProperty: "signal"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/SignalFrame/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("signal" !== data0){
const err3 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/SignalFrame/properties/type/const",keyword:"const",params:{allowedValue: "signal"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.signal !== undefined){
let data1 = data.signal;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/signal",schemaPath:"contract#/$defs/SignalFrame/properties/signal/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!((((((((((data1 === "SIGHUP") || (data1 === "SIGINT")) || (data1 === "SIGQUIT")) || (data1 === "SIGKILL")) || (data1 === "SIGTERM")) || (data1 === "SIGUSR1")) || (data1 === "SIGUSR2")) || (data1 === "SIGSTOP")) || (data1 === "SIGCONT")) || (data1 === "SIGWINCH"))){
const err5 = {instancePath:instancePath+"/signal",schemaPath:"contract#/$defs/SignalFrame/properties/signal/enum",keyword:"enum",params:{allowedValues: schema101.properties.signal.enum}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath,schemaPath:"contract#/$defs/SignalFrame/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate54.errors = vErrors;
return errors === 0;
}
validate54.evaluated = {"props":{"type":true,"signal":true},"dynamicProps":false,"dynamicItems":false};

const readFileQuery = validate55;
const schema102 = {"$id":"readFileQuery","type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"required":["path"]};

function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate55.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate55.errors = vErrors;
return errors === 0;
}
validate55.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const writeFileBody = validate56;
const schema103 = {"$id":"writeFileBody","$ref":"contract#/$defs/FileWriteRequest"};
const schema104 = {"type":"object","required":["path","content"],"properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"content":{"type":"string"},"encoding":{"type":"string","enum":["base64"]},"mode":{"default":"0644","type":"string","pattern":"^0?[0-7]{3}$"},"overwrite":{"default":true,"type":"boolean"}}};
const pattern44 = new RegExp("^0?[0-7]{3}$", "u");

function validate56(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate56.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.mode === undefined){
data.mode = "0644";
}
if(data.overwrite === undefined){
data.overwrite = true;
}
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/FileWriteRequest/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.content === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/FileWriteRequest/required",keyword:"required",params:{missingProperty: "content"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err2 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/FileWriteRequest/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data0) < 1){
const err3 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/FileWriteRequest/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/FileWriteRequest/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.content !== undefined){
if(typeof data.content !== "string"){
const err5 = {instancePath:instancePath+"/content",schemaPath:"contract#/$defs/FileWriteRequest/properties/content/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.encoding !== undefined){
let data2 = data.encoding;
if(typeof data2 !== "string"){
const err6 = {instancePath:instancePath+"/encoding",schemaPath:"contract#/$defs/FileWriteRequest/properties/encoding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!(data2 === "base64")){
const err7 = {instancePath:instancePath+"/encoding",schemaPath:"contract#/$defs/FileWriteRequest/properties/encoding/enum",keyword:"enum",params:{allowedValues: schema104.properties.encoding.enum}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
let data3 = data.mode;
if(typeof data3 === "string"){
if(!pattern44.test(data3)){
const err8 = {instancePath:instancePath+"/mode",schemaPath:"contract#/$defs/FileWriteRequest/properties/mode/pattern",keyword:"pattern",params:{pattern: "^0?[0-7]{3}$"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/mode",schemaPath:"contract#/$defs/FileWriteRequest/properties/mode/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(typeof data.overwrite !== "boolean"){
const err10 = {instancePath:instancePath+"/overwrite",schemaPath:"contract#/$defs/FileWriteRequest/properties/overwrite/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath,schemaPath:"contract#/$defs/FileWriteRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate56.errors = vErrors;
return errors === 0;
}
validate56.evaluated = {"props":{"path":true,"content":true,"encoding":true,"mode":true,"overwrite":true},"dynamicProps":false,"dynamicItems":false};

const listFilesQuery = validate57;
const schema105 = {"$id":"listFilesQuery","type":"object","properties":{"path":{"default":"/workspace","type":"string","minLength":1,"maxLength":4096}},"required":[]};

function validate57(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate57.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
data.path = "/workspace";
}
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err0 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate57.errors = vErrors;
return errors === 0;
}
validate57.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const fileExistsQuery = validate58;
const schema106 = {"$id":"fileExistsQuery","type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"required":["path"]};

function validate58(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate58.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate58.errors = vErrors;
return errors === 0;
}
validate58.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const removeFileQuery = validate59;
const schema107 = {"$id":"removeFileQuery","type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"required":["path"]};

function validate59(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate59.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate59.errors = vErrors;
return errors === 0;
}
validate59.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const makeDirectoryBody = validate60;
const schema108 = {"$id":"makeDirectoryBody","$ref":"contract#/$defs/MakeDirectoryRequest"};
const schema109 = {"type":"object","required":["path"],"properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"additionalProperties":{"type":"string"}};

function validate60(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate60.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/MakeDirectoryRequest/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "path")){
if(typeof data[key0] !== "string"){
const err1 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/MakeDirectoryRequest/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
if(data.path !== undefined){
let data1 = data.path;
if(typeof data1 === "string"){
if(func1(data1) > 4096){
const err2 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/MakeDirectoryRequest/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data1) < 1){
const err3 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/MakeDirectoryRequest/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/MakeDirectoryRequest/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"contract#/$defs/MakeDirectoryRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate60.errors = vErrors;
return errors === 0;
}
validate60.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const renameFileBody = validate61;
const schema110 = {"$id":"renameFileBody","$ref":"contract#/$defs/FileRenameRequest"};
const schema111 = {"type":"object","required":["path","new_path"],"properties":{"path":{"type":"string","minLength":1,"maxLength":4096},"new_path":{"type":"string","minLength":1,"maxLength":4096},"overwrite":{"default":false,"type":"boolean"}}};

function validate61(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate61.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.overwrite === undefined){
data.overwrite = false;
}
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/FileRenameRequest/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.new_path === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/FileRenameRequest/required",keyword:"required",params:{missingProperty: "new_path"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err2 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/FileRenameRequest/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data0) < 1){
const err3 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/FileRenameRequest/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/FileRenameRequest/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.new_path !== undefined){
let data1 = data.new_path;
if(typeof data1 === "string"){
if(func1(data1) > 4096){
const err5 = {instancePath:instancePath+"/new_path",schemaPath:"contract#/$defs/FileRenameRequest/properties/new_path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(func1(data1) < 1){
const err6 = {instancePath:instancePath+"/new_path",schemaPath:"contract#/$defs/FileRenameRequest/properties/new_path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/new_path",schemaPath:"contract#/$defs/FileRenameRequest/properties/new_path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(typeof data.overwrite !== "boolean"){
const err8 = {instancePath:instancePath+"/overwrite",schemaPath:"contract#/$defs/FileRenameRequest/properties/overwrite/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath,schemaPath:"contract#/$defs/FileRenameRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate61.errors = vErrors;
return errors === 0;
}
validate61.evaluated = {"props":{"path":true,"new_path":true,"overwrite":true},"dynamicProps":false,"dynamicItems":false};

const statFileQuery = validate62;
const schema112 = {"$id":"statFileQuery","type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"required":["path"]};

function validate62(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate62.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate62.errors = vErrors;
return errors === 0;
}
validate62.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const uploadFileQuery = validate63;
const schema113 = {"$id":"uploadFileQuery","type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"required":[]};

function validate63(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate63.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err0 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate63.errors = vErrors;
return errors === 0;
}
validate63.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const downloadFileQuery = validate64;
const schema114 = {"$id":"downloadFileQuery","type":"object","properties":{"path":{"type":"string","minLength":1,"maxLength":4096}},"required":["path"]};

function validate64(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate64.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.path === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path !== undefined){
let data0 = data.path;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err1 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/path",schemaPath:"#/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate64.errors = vErrors;
return errors === 0;
}
validate64.evaluated = {"props":{"path":true},"dynamicProps":false,"dynamicItems":false};

const frameWatchRequest = validate65;
const schema115 = {"$id":"frameWatchRequest","$ref":"contract#/$defs/WatchRequest"};
const schema116 = {"type":"object","required":["action","path"],"properties":{"action":{"type":"string","const":"watch"},"path":{"type":"string","minLength":1,"maxLength":4096},"ready":{"default":false,"type":"boolean"}}};

function validate65(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate65.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.ready === undefined){
data.ready = false;
}
if(data.action === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/WatchRequest/required",keyword:"required",params:{missingProperty: "action"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/WatchRequest/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.action !== undefined){
let data0 = data.action;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/action",schemaPath:"contract#/$defs/WatchRequest/properties/action/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("watch" !== data0){
const err3 = {instancePath:instancePath+"/action",schemaPath:"contract#/$defs/WatchRequest/properties/action/const",keyword:"const",params:{allowedValue: "watch"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.path !== undefined){
let data1 = data.path;
if(typeof data1 === "string"){
if(func1(data1) > 4096){
const err4 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/WatchRequest/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(func1(data1) < 1){
const err5 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/WatchRequest/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/WatchRequest/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(typeof data.ready !== "boolean"){
const err7 = {instancePath:instancePath+"/ready",schemaPath:"contract#/$defs/WatchRequest/properties/ready/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/WatchRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate65.errors = vErrors;
return errors === 0;
}
validate65.evaluated = {"props":{"action":true,"path":true,"ready":true},"dynamicProps":false,"dynamicItems":false};

const frameUnwatchRequest = validate66;
const schema117 = {"$id":"frameUnwatchRequest","$ref":"contract#/$defs/UnwatchRequest"};
const schema118 = {"type":"object","required":["action","path"],"properties":{"action":{"type":"string","const":"unwatch"},"path":{"type":"string","minLength":1,"maxLength":4096}}};

function validate66(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate66.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.action === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/UnwatchRequest/required",keyword:"required",params:{missingProperty: "action"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.path === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/UnwatchRequest/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.action !== undefined){
let data0 = data.action;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/action",schemaPath:"contract#/$defs/UnwatchRequest/properties/action/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("unwatch" !== data0){
const err3 = {instancePath:instancePath+"/action",schemaPath:"contract#/$defs/UnwatchRequest/properties/action/const",keyword:"const",params:{allowedValue: "unwatch"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.path !== undefined){
let data1 = data.path;
if(typeof data1 === "string"){
if(func1(data1) > 4096){
const err4 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/UnwatchRequest/properties/path/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(func1(data1) < 1){
const err5 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/UnwatchRequest/properties/path/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/path",schemaPath:"contract#/$defs/UnwatchRequest/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"contract#/$defs/UnwatchRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate66.errors = vErrors;
return errors === 0;
}
validate66.evaluated = {"props":{"action":true,"path":true},"dynamicProps":false,"dynamicItems":false};

const replaceEnvironmentBody = validate67;
const schema119 = {"$id":"replaceEnvironmentBody","$ref":"contract#/$defs/EnvVarsSetRequest"};
const schema120 = {"type":"object","required":["env_vars"],"properties":{"env_vars":{"$ref":"contract#/$defs/EnvironmentVariables"},"merge":{"default":false,"type":"boolean"},"timestamp":{"type":"string","maxLength":100}}};

function validate68(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate68.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.merge === undefined){
data.merge = false;
}
if(data.env_vars === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "env_vars"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.env_vars !== undefined){
let data0 = data.env_vars;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(Object.keys(data0).length > 1000){
const err1 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data0){
const _errs4 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err2 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!pattern6.test(key0)){
const err3 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
var valid2 = _errs4 === errors;
if(!valid2){
const err4 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
for(const key1 in data0){
let data1 = data0[key1];
if(typeof data1 === "string"){
if(func1(data1) > 32768){
const err5 = {instancePath:instancePath+"/env_vars/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!pattern4.test(data1)){
const err6 = {instancePath:instancePath+"/env_vars/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/env_vars/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(typeof data.merge !== "boolean"){
const err9 = {instancePath:instancePath+"/merge",schemaPath:"#/properties/merge/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data.timestamp !== undefined){
let data3 = data.timestamp;
if(typeof data3 === "string"){
if(func1(data3) > 100){
const err10 = {instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/maxLength",keyword:"maxLength",params:{limit: 100}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate68.errors = vErrors;
return errors === 0;
}
validate68.evaluated = {"props":{"env_vars":true,"merge":true,"timestamp":true},"dynamicProps":false,"dynamicItems":false};


function validate67(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate67.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate68(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
errors = vErrors.length;
}
validate67.errors = vErrors;
return errors === 0;
}
validate67.evaluated = {"props":{"env_vars":true,"merge":true,"timestamp":true},"dynamicProps":false,"dynamicItems":false};

const mergeEnvironmentBody = validate70;
const schema122 = {"$id":"mergeEnvironmentBody","$ref":"contract#/$defs/EnvVarsSetRequest"};

function validate71(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate71.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.merge === undefined){
data.merge = false;
}
if(data.env_vars === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "env_vars"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.env_vars !== undefined){
let data0 = data.env_vars;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(Object.keys(data0).length > 1000){
const err1 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/maxProperties",keyword:"maxProperties",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data0){
const _errs4 = errors;
if(typeof key0 === "string"){
if(func1(key0) > 256){
const err2 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/maxLength",keyword:"maxLength",params:{limit: 256},propertyName:key0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!pattern6.test(key0)){
const err3 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_]*$"},propertyName:key0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
var valid2 = _errs4 === errors;
if(!valid2){
const err4 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/propertyNames",keyword:"propertyNames",params:{propertyName: key0}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
for(const key1 in data0){
let data1 = data0[key1];
if(typeof data1 === "string"){
if(func1(data1) > 32768){
const err5 = {instancePath:instancePath+"/env_vars/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 32768}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!pattern4.test(data1)){
const err6 = {instancePath:instancePath+"/env_vars/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/env_vars/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"contract#/$defs/EnvironmentVariables/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath:instancePath+"/env_vars",schemaPath:"contract#/$defs/EnvironmentVariables/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(typeof data.merge !== "boolean"){
const err9 = {instancePath:instancePath+"/merge",schemaPath:"#/properties/merge/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data.timestamp !== undefined){
let data3 = data.timestamp;
if(typeof data3 === "string"){
if(func1(data3) > 100){
const err10 = {instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/maxLength",keyword:"maxLength",params:{limit: 100}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/timestamp",schemaPath:"#/properties/timestamp/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate71.errors = vErrors;
return errors === 0;
}
validate71.evaluated = {"props":{"env_vars":true,"merge":true,"timestamp":true},"dynamicProps":false,"dynamicItems":false};


function validate70(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate70.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate71(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate71.errors : vErrors.concat(validate71.errors);
errors = vErrors.length;
}
validate70.errors = vErrors;
return errors === 0;
}
validate70.evaluated = {"props":{"env_vars":true,"merge":true,"timestamp":true},"dynamicProps":false,"dynamicItems":false};

const frameTerminalInput = validate73;
const schema125 = {"$id":"frameTerminalInput","$ref":"contract#/$defs/TerminalInputFrame"};
const schema126 = {"type":"object","required":["type","data"],"properties":{"type":{"type":"string","const":"input"},"data":{"type":"string"}}};

function validate73(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate73.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/TerminalInputFrame/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.data === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/TerminalInputFrame/required",keyword:"required",params:{missingProperty: "data"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/TerminalInputFrame/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if("input" !== data0){
const err3 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/TerminalInputFrame/properties/type/const",keyword:"const",params:{allowedValue: "input"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.data !== undefined){
if(typeof data.data !== "string"){
const err4 = {instancePath:instancePath+"/data",schemaPath:"contract#/$defs/TerminalInputFrame/properties/data/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,schemaPath:"contract#/$defs/TerminalInputFrame/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate73.errors = vErrors;
return errors === 0;
}
validate73.evaluated = {"props":{"type":true,"data":true},"dynamicProps":false,"dynamicItems":false};

const frameTerminalResize = validate74;
const schema127 = {"$id":"frameTerminalResize","$ref":"contract#/$defs/TerminalResizeFrame"};
const schema128 = {"type":"object","required":["type","cols","rows"],"properties":{"type":{"type":"string","const":"resize"},"cols":{"type":"integer","minimum":1,"maximum":1000},"rows":{"type":"integer","minimum":1,"maximum":1000}}};

function validate74(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate74.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.type === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/TerminalResizeFrame/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.cols === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/TerminalResizeFrame/required",keyword:"required",params:{missingProperty: "cols"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.rows === undefined){
const err2 = {instancePath,schemaPath:"contract#/$defs/TerminalResizeFrame/required",keyword:"required",params:{missingProperty: "rows"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.type !== undefined){
let data0 = data.type;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if("resize" !== data0){
const err4 = {instancePath:instancePath+"/type",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/type/const",keyword:"const",params:{allowedValue: "resize"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.cols !== undefined){
let data1 = data.cols;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/cols",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/cols/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1000 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/cols",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/cols/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/cols",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/cols/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.rows !== undefined){
let data2 = data.rows;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err8 = {instancePath:instancePath+"/rows",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/rows/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 1000 || isNaN(data2)){
const err9 = {instancePath:instancePath+"/rows",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/rows/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err10 = {instancePath:instancePath+"/rows",schemaPath:"contract#/$defs/TerminalResizeFrame/properties/rows/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
}
else {
const err11 = {instancePath,schemaPath:"contract#/$defs/TerminalResizeFrame/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
validate74.errors = vErrors;
return errors === 0;
}
validate74.evaluated = {"props":{"type":true,"cols":true,"rows":true},"dynamicProps":false,"dynamicItems":false};

const openTerminalQuery = validate75;
const schema129 = {"$id":"openTerminalQuery","type":"object","properties":{"cols":{"default":80,"type":"integer","minimum":1,"maximum":1000},"rows":{"default":24,"type":"integer","minimum":1,"maximum":1000},"shell":{"type":"string","minLength":1,"maxLength":4096,"pattern":"^[^\\u0000]*$"}},"required":[]};

function validate75(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate75.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.cols === undefined){
data.cols = 80;
}
if(data.rows === undefined){
data.rows = 24;
}
let data0 = data.cols;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/cols",schemaPath:"#/properties/cols/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 1000 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/cols",schemaPath:"#/properties/cols/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/cols",schemaPath:"#/properties/cols/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
let data1 = data.rows;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err3 = {instancePath:instancePath+"/rows",schemaPath:"#/properties/rows/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1000 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/rows",schemaPath:"#/properties/rows/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/rows",schemaPath:"#/properties/rows/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.shell !== undefined){
let data2 = data.shell;
if(typeof data2 === "string"){
if(func1(data2) > 4096){
const err6 = {instancePath:instancePath+"/shell",schemaPath:"#/properties/shell/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(func1(data2) < 1){
const err7 = {instancePath:instancePath+"/shell",schemaPath:"#/properties/shell/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(!pattern4.test(data2)){
const err8 = {instancePath:instancePath+"/shell",schemaPath:"#/properties/shell/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000]*$"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/shell",schemaPath:"#/properties/shell/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate75.errors = vErrors;
return errors === 0;
}
validate75.evaluated = {"props":{"cols":true,"rows":true,"shell":true},"dynamicProps":false,"dynamicItems":false};

const startVncBody = validate76;
const schema130 = {"$id":"startVncBody","$ref":"contract#/$defs/VncStartRequest"};
const schema131 = {"type":"object","properties":{"display":{"default":1,"type":"integer","minimum":0},"password":{"type":["string","null"],"maxLength":64}}};

function validate76(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate76.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.display === undefined){
data.display = 1;
}
let data0 = data.display;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/display",schemaPath:"contract#/$defs/VncStartRequest/properties/display/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/display",schemaPath:"contract#/$defs/VncStartRequest/properties/display/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.password !== undefined){
let data1 = data.password;
if((typeof data1 !== "string") && (data1 !== null)){
const err2 = {instancePath:instancePath+"/password",schemaPath:"contract#/$defs/VncStartRequest/properties/password/type",keyword:"type",params:{type: schema131.properties.password.type}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(typeof data1 === "string"){
if(func1(data1) > 64){
const err3 = {instancePath:instancePath+"/password",schemaPath:"contract#/$defs/VncStartRequest/properties/password/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/VncStartRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate76.errors = vErrors;
return errors === 0;
}
validate76.evaluated = {"props":{"display":true,"password":true},"dynamicProps":false,"dynamicItems":false};

const clickMouseBody = validate77;
const schema132 = {"$id":"clickMouseBody","$ref":"contract#/$defs/MouseClickRequest"};
const schema133 = {"type":"object","required":["x","y"],"properties":{"x":{"type":"integer"},"y":{"type":"integer"},"button":{"default":"left","$ref":"contract#/$defs/MouseButton"},"clicks":{"default":1,"type":"integer","minimum":1,"maximum":10}}};
const schema134 = {"type":"string","enum":["left","middle","right"],"default":"left"};

function validate78(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate78.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.button === undefined){
data.button = "left";
}
if(data.clicks === undefined){
data.clicks = 1;
}
if(data.x === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.y === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.x !== undefined){
let data0 = data.x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/x",schemaPath:"#/properties/x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.y !== undefined){
let data1 = data.y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err3 = {instancePath:instancePath+"/y",schemaPath:"#/properties/y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
let data2 = data.button;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/button",schemaPath:"contract#/$defs/MouseButton/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!(((data2 === "left") || (data2 === "middle")) || (data2 === "right"))){
const err5 = {instancePath:instancePath+"/button",schemaPath:"contract#/$defs/MouseButton/enum",keyword:"enum",params:{allowedValues: schema134.enum}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
let data3 = data.clicks;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err6 = {instancePath:instancePath+"/clicks",schemaPath:"#/properties/clicks/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 10 || isNaN(data3)){
const err7 = {instancePath:instancePath+"/clicks",schemaPath:"#/properties/clicks/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err8 = {instancePath:instancePath+"/clicks",schemaPath:"#/properties/clicks/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate78.errors = vErrors;
return errors === 0;
}
validate78.evaluated = {"props":{"x":true,"y":true,"button":true,"clicks":true},"dynamicProps":false,"dynamicItems":false};


function validate77(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate77.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate78(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate78.errors : vErrors.concat(validate78.errors);
errors = vErrors.length;
}
validate77.errors = vErrors;
return errors === 0;
}
validate77.evaluated = {"props":{"x":true,"y":true,"button":true,"clicks":true},"dynamicProps":false,"dynamicItems":false};

const moveMouseBody = validate80;
const schema135 = {"$id":"moveMouseBody","$ref":"contract#/$defs/MouseMoveRequest"};
const schema136 = {"type":"object","required":["x","y"],"properties":{"x":{"type":"integer"},"y":{"type":"integer"}}};

function validate80(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate80.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.x === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/MouseMoveRequest/required",keyword:"required",params:{missingProperty: "x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.y === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/MouseMoveRequest/required",keyword:"required",params:{missingProperty: "y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.x !== undefined){
let data0 = data.x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/x",schemaPath:"contract#/$defs/MouseMoveRequest/properties/x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.y !== undefined){
let data1 = data.y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err3 = {instancePath:instancePath+"/y",schemaPath:"contract#/$defs/MouseMoveRequest/properties/y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/MouseMoveRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate80.errors = vErrors;
return errors === 0;
}
validate80.evaluated = {"props":{"x":true,"y":true},"dynamicProps":false,"dynamicItems":false};

const dragMouseBody = validate81;
const schema137 = {"$id":"dragMouseBody","$ref":"contract#/$defs/MouseDragRequest"};
const schema138 = {"type":"object","required":["from_x","from_y","to_x","to_y"],"properties":{"from_x":{"type":"integer"},"from_y":{"type":"integer"},"to_x":{"type":"integer"},"to_y":{"type":"integer"},"button":{"default":"left","$ref":"contract#/$defs/MouseButton"}}};

function validate82(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate82.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.button === undefined){
data.button = "left";
}
if(data.from_x === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "from_x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.from_y === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "from_y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.to_x === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "to_x"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.to_y === undefined){
const err3 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "to_y"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.from_x !== undefined){
let data0 = data.from_x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/from_x",schemaPath:"#/properties/from_x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.from_y !== undefined){
let data1 = data.from_y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/from_y",schemaPath:"#/properties/from_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.to_x !== undefined){
let data2 = data.to_x;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/to_x",schemaPath:"#/properties/to_x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.to_y !== undefined){
let data3 = data.to_y;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err7 = {instancePath:instancePath+"/to_y",schemaPath:"#/properties/to_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
let data4 = data.button;
if(typeof data4 !== "string"){
const err8 = {instancePath:instancePath+"/button",schemaPath:"contract#/$defs/MouseButton/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(!(((data4 === "left") || (data4 === "middle")) || (data4 === "right"))){
const err9 = {instancePath:instancePath+"/button",schemaPath:"contract#/$defs/MouseButton/enum",keyword:"enum",params:{allowedValues: schema134.enum}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate82.errors = vErrors;
return errors === 0;
}
validate82.evaluated = {"props":{"from_x":true,"from_y":true,"to_x":true,"to_y":true,"button":true},"dynamicProps":false,"dynamicItems":false};


function validate81(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate81.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate82(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate82.errors : vErrors.concat(validate82.errors);
errors = vErrors.length;
}
validate81.errors = vErrors;
return errors === 0;
}
validate81.evaluated = {"props":{"from_x":true,"from_y":true,"to_x":true,"to_y":true,"button":true},"dynamicProps":false,"dynamicItems":false};

const scrollMouseBody = validate84;
const schema140 = {"$id":"scrollMouseBody","$ref":"contract#/$defs/MouseScrollRequest"};
const schema141 = {"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"},"delta_y":{"type":"integer"},"amount":{"type":"integer","minimum":1},"direction":{"default":"down","type":"string","enum":["up","down","left","right"]}}};

function validate84(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate84.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.direction === undefined){
data.direction = "down";
}
if(data.x !== undefined){
let data0 = data.x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/x",schemaPath:"contract#/$defs/MouseScrollRequest/properties/x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.y !== undefined){
let data1 = data.y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err1 = {instancePath:instancePath+"/y",schemaPath:"contract#/$defs/MouseScrollRequest/properties/y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.delta_y !== undefined){
let data2 = data.delta_y;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err2 = {instancePath:instancePath+"/delta_y",schemaPath:"contract#/$defs/MouseScrollRequest/properties/delta_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.amount !== undefined){
let data3 = data.amount;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err3 = {instancePath:instancePath+"/amount",schemaPath:"contract#/$defs/MouseScrollRequest/properties/amount/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 1 || isNaN(data3)){
const err4 = {instancePath:instancePath+"/amount",schemaPath:"contract#/$defs/MouseScrollRequest/properties/amount/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
let data4 = data.direction;
if(typeof data4 !== "string"){
const err5 = {instancePath:instancePath+"/direction",schemaPath:"contract#/$defs/MouseScrollRequest/properties/direction/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(!((((data4 === "up") || (data4 === "down")) || (data4 === "left")) || (data4 === "right"))){
const err6 = {instancePath:instancePath+"/direction",schemaPath:"contract#/$defs/MouseScrollRequest/properties/direction/enum",keyword:"enum",params:{allowedValues: schema141.properties.direction.enum}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath,schemaPath:"contract#/$defs/MouseScrollRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate84.errors = vErrors;
return errors === 0;
}
validate84.evaluated = {"props":{"x":true,"y":true,"delta_y":true,"amount":true,"direction":true},"dynamicProps":false,"dynamicItems":false};

const typeTextBody = validate85;
const schema142 = {"$id":"typeTextBody","$ref":"contract#/$defs/KeyboardTypeRequest"};
const schema143 = {"type":"object","required":["text"],"properties":{"text":{"type":"string","maxLength":100000},"delay_ms":{"type":"integer","minimum":0,"maximum":1000}}};

function validate85(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate85.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.text === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/KeyboardTypeRequest/required",keyword:"required",params:{missingProperty: "text"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.text !== undefined){
let data0 = data.text;
if(typeof data0 === "string"){
if(func1(data0) > 100000){
const err1 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/KeyboardTypeRequest/properties/text/maxLength",keyword:"maxLength",params:{limit: 100000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/KeyboardTypeRequest/properties/text/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.delay_ms !== undefined){
let data1 = data.delay_ms;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err3 = {instancePath:instancePath+"/delay_ms",schemaPath:"contract#/$defs/KeyboardTypeRequest/properties/delay_ms/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 1000 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/delay_ms",schemaPath:"contract#/$defs/KeyboardTypeRequest/properties/delay_ms/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/delay_ms",schemaPath:"contract#/$defs/KeyboardTypeRequest/properties/delay_ms/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
}
else {
const err6 = {instancePath,schemaPath:"contract#/$defs/KeyboardTypeRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate85.errors = vErrors;
return errors === 0;
}
validate85.evaluated = {"props":{"text":true,"delay_ms":true},"dynamicProps":false,"dynamicItems":false};

const pressKeyBody = validate86;
const schema144 = {"$id":"pressKeyBody","$ref":"contract#/$defs/KeyboardPressRequest"};
const schema145 = {"type":"object","required":["key"],"properties":{"key":{"type":"string","minLength":1,"maxLength":64}}};

function validate86(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate86.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.key === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/KeyboardPressRequest/required",keyword:"required",params:{missingProperty: "key"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.key !== undefined){
let data0 = data.key;
if(typeof data0 === "string"){
if(func1(data0) > 64){
const err1 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/KeyboardPressRequest/properties/key/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/KeyboardPressRequest/properties/key/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/KeyboardPressRequest/properties/key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/KeyboardPressRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate86.errors = vErrors;
return errors === 0;
}
validate86.evaluated = {"props":{"key":true},"dynamicProps":false,"dynamicItems":false};

const pressKeyCombinationBody = validate87;
const schema146 = {"$id":"pressKeyCombinationBody","$ref":"contract#/$defs/KeyboardCombinationRequest"};
const schema147 = {"type":"object","properties":{"keys":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1,"maxLength":64}},"modifiers":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1,"maxLength":64}},"key":{"type":"string","minLength":1,"maxLength":64}}};

function validate87(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate87.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.keys !== undefined){
let data0 = data.keys;
if(Array.isArray(data0)){
if(data0.length > 10){
const err0 = {instancePath:instancePath+"/keys",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/keys/maxItems",keyword:"maxItems",params:{limit: 10}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 === "string"){
if(func1(data1) > 64){
const err1 = {instancePath:instancePath+"/keys/" + i0,schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/keys/items/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data1) < 1){
const err2 = {instancePath:instancePath+"/keys/" + i0,schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/keys/items/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/keys/" + i0,schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/keys/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath:instancePath+"/keys",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/keys/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.modifiers !== undefined){
let data2 = data.modifiers;
if(Array.isArray(data2)){
if(data2.length > 10){
const err5 = {instancePath:instancePath+"/modifiers",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/modifiers/maxItems",keyword:"maxItems",params:{limit: 10}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const len1 = data2.length;
for(let i1=0; i1<len1; i1++){
let data3 = data2[i1];
if(typeof data3 === "string"){
if(func1(data3) > 64){
const err6 = {instancePath:instancePath+"/modifiers/" + i1,schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/modifiers/items/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(func1(data3) < 1){
const err7 = {instancePath:instancePath+"/modifiers/" + i1,schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/modifiers/items/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/modifiers/" + i1,schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/modifiers/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/modifiers",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/modifiers/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.key !== undefined){
let data4 = data.key;
if(typeof data4 === "string"){
if(func1(data4) > 64){
const err10 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/key/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(func1(data4) < 1){
const err11 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/key/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/KeyboardCombinationRequest/properties/key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"contract#/$defs/KeyboardCombinationRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate87.errors = vErrors;
return errors === 0;
}
validate87.evaluated = {"props":{"keys":true,"modifiers":true,"key":true},"dynamicProps":false,"dynamicItems":false};

const setClipboardBody = validate88;
const schema148 = {"$id":"setClipboardBody","$ref":"contract#/$defs/ClipboardSetRequest"};
const schema149 = {"type":"object","properties":{"content":{"type":"string","maxLength":1048576},"text":{"type":"string","maxLength":1048576}}};

function validate88(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate88.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.content !== undefined){
let data0 = data.content;
if(typeof data0 === "string"){
if(func1(data0) > 1048576){
const err0 = {instancePath:instancePath+"/content",schemaPath:"contract#/$defs/ClipboardSetRequest/properties/content/maxLength",keyword:"maxLength",params:{limit: 1048576}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath:instancePath+"/content",schemaPath:"contract#/$defs/ClipboardSetRequest/properties/content/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.text !== undefined){
let data1 = data.text;
if(typeof data1 === "string"){
if(func1(data1) > 1048576){
const err2 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/ClipboardSetRequest/properties/text/maxLength",keyword:"maxLength",params:{limit: 1048576}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/ClipboardSetRequest/properties/text/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/ClipboardSetRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate88.errors = vErrors;
return errors === 0;
}
validate88.evaluated = {"props":{"content":true,"text":true},"dynamicProps":false,"dynamicItems":false};

const takeRegionScreenshotBody = validate89;
const schema150 = {"$id":"takeRegionScreenshotBody","$ref":"contract#/$defs/ScreenRegion"};
const schema151 = {"type":"object","required":["x","y","width","height"],"properties":{"x":{"type":"integer"},"y":{"type":"integer"},"width":{"type":"integer","minimum":1},"height":{"type":"integer","minimum":1}}};

function validate89(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate89.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.x === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/ScreenRegion/required",keyword:"required",params:{missingProperty: "x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.y === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/ScreenRegion/required",keyword:"required",params:{missingProperty: "y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.width === undefined){
const err2 = {instancePath,schemaPath:"contract#/$defs/ScreenRegion/required",keyword:"required",params:{missingProperty: "width"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.height === undefined){
const err3 = {instancePath,schemaPath:"contract#/$defs/ScreenRegion/required",keyword:"required",params:{missingProperty: "height"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.x !== undefined){
let data0 = data.x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/x",schemaPath:"contract#/$defs/ScreenRegion/properties/x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.y !== undefined){
let data1 = data.y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/y",schemaPath:"contract#/$defs/ScreenRegion/properties/y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.width !== undefined){
let data2 = data.width;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ScreenRegion/properties/width/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 1 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ScreenRegion/properties/width/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.height !== undefined){
let data3 = data.height;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err8 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ScreenRegion/properties/height/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 1 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ScreenRegion/properties/height/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
else {
const err10 = {instancePath,schemaPath:"contract#/$defs/ScreenRegion/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate89.errors = vErrors;
return errors === 0;
}
validate89.evaluated = {"props":{"x":true,"y":true,"width":true,"height":true},"dynamicProps":false,"dynamicItems":false};

const startRecordingBody = validate90;
const schema152 = {"$id":"startRecordingBody","$ref":"contract#/$defs/RecordingStartRequest"};
const schema153 = {"type":"object","properties":{"output_file":{"type":"string","minLength":1,"maxLength":4096},"fps":{"default":10,"type":"integer","minimum":1,"maximum":60},"format":{"default":"mp4","type":"string"},"quality":{"default":"medium","type":"string"}}};

function validate90(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate90.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.fps === undefined){
data.fps = 10;
}
if(data.format === undefined){
data.format = "mp4";
}
if(data.quality === undefined){
data.quality = "medium";
}
if(data.output_file !== undefined){
let data0 = data.output_file;
if(typeof data0 === "string"){
if(func1(data0) > 4096){
const err0 = {instancePath:instancePath+"/output_file",schemaPath:"contract#/$defs/RecordingStartRequest/properties/output_file/maxLength",keyword:"maxLength",params:{limit: 4096}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/output_file",schemaPath:"contract#/$defs/RecordingStartRequest/properties/output_file/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/output_file",schemaPath:"contract#/$defs/RecordingStartRequest/properties/output_file/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
let data1 = data.fps;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err3 = {instancePath:instancePath+"/fps",schemaPath:"contract#/$defs/RecordingStartRequest/properties/fps/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 60 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/fps",schemaPath:"contract#/$defs/RecordingStartRequest/properties/fps/maximum",keyword:"maximum",params:{comparison: "<=", limit: 60}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/fps",schemaPath:"contract#/$defs/RecordingStartRequest/properties/fps/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(typeof data.format !== "string"){
const err6 = {instancePath:instancePath+"/format",schemaPath:"contract#/$defs/RecordingStartRequest/properties/format/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(typeof data.quality !== "string"){
const err7 = {instancePath:instancePath+"/quality",schemaPath:"contract#/$defs/RecordingStartRequest/properties/quality/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/RecordingStartRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate90.errors = vErrors;
return errors === 0;
}
validate90.evaluated = {"props":{"output_file":true,"fps":true,"format":true,"quality":true},"dynamicProps":false,"dynamicItems":false};

const stopRecordingBody = validate91;
const schema154 = {"$id":"stopRecordingBody","$ref":"contract#/$defs/RecordingStopRequest"};
const schema155 = {"type":"object","properties":{"recording_id":{"type":"string","maxLength":200}}};

function validate91(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate91.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.recording_id !== undefined){
let data0 = data.recording_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err0 = {instancePath:instancePath+"/recording_id",schemaPath:"contract#/$defs/RecordingStopRequest/properties/recording_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath:instancePath+"/recording_id",schemaPath:"contract#/$defs/RecordingStopRequest/properties/recording_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"contract#/$defs/RecordingStopRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate91.errors = vErrors;
return errors === 0;
}
validate91.evaluated = {"props":{"recording_id":true},"dynamicProps":false,"dynamicItems":false};

const getRecordingStatusQuery = validate92;
const schema156 = {"$id":"getRecordingStatusQuery","type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":200}},"required":[]};

function validate92(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate92.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err0 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate92.errors = vErrors;
return errors === 0;
}
validate92.evaluated = {"props":{"id":true},"dynamicProps":false,"dynamicItems":false};

const downloadRecordingQuery = validate93;
const schema157 = {"$id":"downloadRecordingQuery","type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":200}},"required":[]};

function validate93(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate93.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err0 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate93.errors = vErrors;
return errors === 0;
}
validate93.evaluated = {"props":{"id":true},"dynamicProps":false,"dynamicItems":false};

const focusWindowBody = validate94;
const schema158 = {"$id":"focusWindowBody","$ref":"contract#/$defs/WindowRequest"};
const schema159 = {"type":"object","required":["window_id"],"properties":{"window_id":{"type":"string","minLength":1,"maxLength":200}}};

function validate94(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate94.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.window_id === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/WindowRequest/required",keyword:"required",params:{missingProperty: "window_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.window_id !== undefined){
let data0 = data.window_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err1 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/WindowRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate94.errors = vErrors;
return errors === 0;
}
validate94.evaluated = {"props":{"window_id":true},"dynamicProps":false,"dynamicItems":false};

const closeWindowBody = validate95;
const schema160 = {"$id":"closeWindowBody","$ref":"contract#/$defs/WindowRequest"};

function validate95(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate95.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.window_id === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/WindowRequest/required",keyword:"required",params:{missingProperty: "window_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.window_id !== undefined){
let data0 = data.window_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err1 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/WindowRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate95.errors = vErrors;
return errors === 0;
}
validate95.evaluated = {"props":{"window_id":true},"dynamicProps":false,"dynamicItems":false};

const resizeWindowBody = validate96;
const schema162 = {"$id":"resizeWindowBody","$ref":"contract#/$defs/WindowResizeRequest"};
const schema163 = {"type":"object","required":["window_id","width","height"],"properties":{"window_id":{"type":"string","minLength":1,"maxLength":200},"width":{"type":"integer","minimum":1},"height":{"type":"integer","minimum":1}}};

function validate96(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate96.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.window_id === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/WindowResizeRequest/required",keyword:"required",params:{missingProperty: "window_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.width === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/WindowResizeRequest/required",keyword:"required",params:{missingProperty: "width"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.height === undefined){
const err2 = {instancePath,schemaPath:"contract#/$defs/WindowResizeRequest/required",keyword:"required",params:{missingProperty: "height"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.window_id !== undefined){
let data0 = data.window_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err3 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowResizeRequest/properties/window_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(func1(data0) < 1){
const err4 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowResizeRequest/properties/window_id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowResizeRequest/properties/window_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.width !== undefined){
let data1 = data.width;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err6 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/WindowResizeRequest/properties/width/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/WindowResizeRequest/properties/width/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.height !== undefined){
let data2 = data.height;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err8 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/WindowResizeRequest/properties/height/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 1 || isNaN(data2)){
const err9 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/WindowResizeRequest/properties/height/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
}
else {
const err10 = {instancePath,schemaPath:"contract#/$defs/WindowResizeRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate96.errors = vErrors;
return errors === 0;
}
validate96.evaluated = {"props":{"window_id":true,"width":true,"height":true},"dynamicProps":false,"dynamicItems":false};

const minimizeWindowBody = validate97;
const schema164 = {"$id":"minimizeWindowBody","$ref":"contract#/$defs/WindowRequest"};

function validate97(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate97.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.window_id === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/WindowRequest/required",keyword:"required",params:{missingProperty: "window_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.window_id !== undefined){
let data0 = data.window_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err1 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/window_id",schemaPath:"contract#/$defs/WindowRequest/properties/window_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/WindowRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate97.errors = vErrors;
return errors === 0;
}
validate97.evaluated = {"props":{"window_id":true},"dynamicProps":false,"dynamicItems":false};

const setResolutionBody = validate98;
const schema166 = {"$id":"setResolutionBody","$ref":"contract#/$defs/ResolutionRequest"};
const schema167 = {"type":"object","required":["width","height"],"properties":{"width":{"type":"integer","minimum":320,"maximum":7680},"height":{"type":"integer","minimum":200,"maximum":4320}}};

function validate98(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate98.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.width === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/ResolutionRequest/required",keyword:"required",params:{missingProperty: "width"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.height === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/ResolutionRequest/required",keyword:"required",params:{missingProperty: "height"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.width !== undefined){
let data0 = data.width;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ResolutionRequest/properties/width/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 7680 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ResolutionRequest/properties/width/maximum",keyword:"maximum",params:{comparison: "<=", limit: 7680}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 320 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ResolutionRequest/properties/width/minimum",keyword:"minimum",params:{comparison: ">=", limit: 320}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
if(data.height !== undefined){
let data1 = data.height;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ResolutionRequest/properties/height/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 4320 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ResolutionRequest/properties/height/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4320}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data1 < 200 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ResolutionRequest/properties/height/minimum",keyword:"minimum",params:{comparison: ">=", limit: 200}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/ResolutionRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate98.errors = vErrors;
return errors === 0;
}
validate98.evaluated = {"props":{"width":true,"height":true},"dynamicProps":false,"dynamicItems":false};

const setResolutionAliasBody = validate99;
const schema168 = {"$id":"setResolutionAliasBody","$ref":"contract#/$defs/ResolutionRequest"};

function validate99(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate99.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.width === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/ResolutionRequest/required",keyword:"required",params:{missingProperty: "width"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.height === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/ResolutionRequest/required",keyword:"required",params:{missingProperty: "height"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.width !== undefined){
let data0 = data.width;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ResolutionRequest/properties/width/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 7680 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ResolutionRequest/properties/width/maximum",keyword:"maximum",params:{comparison: "<=", limit: 7680}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 320 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/ResolutionRequest/properties/width/minimum",keyword:"minimum",params:{comparison: ">=", limit: 320}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
if(data.height !== undefined){
let data1 = data.height;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ResolutionRequest/properties/height/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 4320 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ResolutionRequest/properties/height/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4320}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data1 < 200 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/ResolutionRequest/properties/height/minimum",keyword:"minimum",params:{comparison: ">=", limit: 200}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/ResolutionRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate99.errors = vErrors;
return errors === 0;
}
validate99.evaluated = {"props":{"width":true,"height":true},"dynamicProps":false,"dynamicItems":false};

const recogniseTextBody = validate100;
const schema170 = {"$id":"recogniseTextBody","$ref":"contract#/$defs/OcrRequest"};
const schema171 = {"type":"object","required":["x","y","width","height"],"properties":{"x":{"type":"integer"},"y":{"type":"integer"},"width":{"type":"integer","minimum":1},"height":{"type":"integer","minimum":1},"language":{"default":"eng","type":"string","maxLength":64}}};

function validate100(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate100.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.language === undefined){
data.language = "eng";
}
if(data.x === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/OcrRequest/required",keyword:"required",params:{missingProperty: "x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.y === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/OcrRequest/required",keyword:"required",params:{missingProperty: "y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.width === undefined){
const err2 = {instancePath,schemaPath:"contract#/$defs/OcrRequest/required",keyword:"required",params:{missingProperty: "width"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.height === undefined){
const err3 = {instancePath,schemaPath:"contract#/$defs/OcrRequest/required",keyword:"required",params:{missingProperty: "height"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.x !== undefined){
let data0 = data.x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/x",schemaPath:"contract#/$defs/OcrRequest/properties/x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.y !== undefined){
let data1 = data.y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/y",schemaPath:"contract#/$defs/OcrRequest/properties/y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.width !== undefined){
let data2 = data.width;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/OcrRequest/properties/width/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 < 1 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/width",schemaPath:"contract#/$defs/OcrRequest/properties/width/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.height !== undefined){
let data3 = data.height;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err8 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/OcrRequest/properties/height/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 < 1 || isNaN(data3)){
const err9 = {instancePath:instancePath+"/height",schemaPath:"contract#/$defs/OcrRequest/properties/height/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
let data4 = data.language;
if(typeof data4 === "string"){
if(func1(data4) > 64){
const err10 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/OcrRequest/properties/language/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/language",schemaPath:"contract#/$defs/OcrRequest/properties/language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath,schemaPath:"contract#/$defs/OcrRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
validate100.errors = vErrors;
return errors === 0;
}
validate100.evaluated = {"props":{"x":true,"y":true,"width":true,"height":true,"language":true},"dynamicProps":false,"dynamicItems":false};

const pressHotkeyBody = validate101;
const schema172 = {"$id":"pressHotkeyBody","$ref":"contract#/$defs/HotkeyRequest"};
const schema173 = {"type":"object","required":["modifiers","key"],"properties":{"modifiers":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1,"maxLength":64}},"key":{"type":"string","minLength":1,"maxLength":64}}};

function validate101(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate101.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.modifiers === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/HotkeyRequest/required",keyword:"required",params:{missingProperty: "modifiers"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.key === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/HotkeyRequest/required",keyword:"required",params:{missingProperty: "key"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.modifiers !== undefined){
let data0 = data.modifiers;
if(Array.isArray(data0)){
if(data0.length > 10){
const err2 = {instancePath:instancePath+"/modifiers",schemaPath:"contract#/$defs/HotkeyRequest/properties/modifiers/maxItems",keyword:"maxItems",params:{limit: 10}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(typeof data1 === "string"){
if(func1(data1) > 64){
const err3 = {instancePath:instancePath+"/modifiers/" + i0,schemaPath:"contract#/$defs/HotkeyRequest/properties/modifiers/items/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(func1(data1) < 1){
const err4 = {instancePath:instancePath+"/modifiers/" + i0,schemaPath:"contract#/$defs/HotkeyRequest/properties/modifiers/items/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/modifiers/" + i0,schemaPath:"contract#/$defs/HotkeyRequest/properties/modifiers/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
}
else {
const err6 = {instancePath:instancePath+"/modifiers",schemaPath:"contract#/$defs/HotkeyRequest/properties/modifiers/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.key !== undefined){
let data2 = data.key;
if(typeof data2 === "string"){
if(func1(data2) > 64){
const err7 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/HotkeyRequest/properties/key/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(func1(data2) < 1){
const err8 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/HotkeyRequest/properties/key/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/key",schemaPath:"contract#/$defs/HotkeyRequest/properties/key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath,schemaPath:"contract#/$defs/HotkeyRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
validate101.errors = vErrors;
return errors === 0;
}
validate101.evaluated = {"props":{"modifiers":true,"key":true},"dynamicProps":false,"dynamicItems":false};

const dragAndDropBody = validate102;
const schema174 = {"$id":"dragAndDropBody","$ref":"contract#/$defs/DragDropRequest"};
const schema175 = {"type":"object","required":["from_x","from_y","to_x","to_y"],"properties":{"from_x":{"type":"integer"},"from_y":{"type":"integer"},"to_x":{"type":"integer"},"to_y":{"type":"integer"}}};

function validate102(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate102.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.from_x === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "from_x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.from_y === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "from_y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.to_x === undefined){
const err2 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "to_x"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.to_y === undefined){
const err3 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "to_y"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.from_x !== undefined){
let data0 = data.from_x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/from_x",schemaPath:"contract#/$defs/DragDropRequest/properties/from_x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.from_y !== undefined){
let data1 = data.from_y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/from_y",schemaPath:"contract#/$defs/DragDropRequest/properties/from_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.to_x !== undefined){
let data2 = data.to_x;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/to_x",schemaPath:"contract#/$defs/DragDropRequest/properties/to_x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.to_y !== undefined){
let data3 = data.to_y;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err7 = {instancePath:instancePath+"/to_y",schemaPath:"contract#/$defs/DragDropRequest/properties/to_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate102.errors = vErrors;
return errors === 0;
}
validate102.evaluated = {"props":{"from_x":true,"from_y":true,"to_x":true,"to_y":true},"dynamicProps":false,"dynamicItems":false};

const dragAndDropAliasBody = validate103;
const schema176 = {"$id":"dragAndDropAliasBody","$ref":"contract#/$defs/DragDropRequest"};

function validate103(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate103.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.from_x === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "from_x"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.from_y === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "from_y"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.to_x === undefined){
const err2 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "to_x"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.to_y === undefined){
const err3 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/required",keyword:"required",params:{missingProperty: "to_y"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.from_x !== undefined){
let data0 = data.from_x;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/from_x",schemaPath:"contract#/$defs/DragDropRequest/properties/from_x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.from_y !== undefined){
let data1 = data.from_y;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err5 = {instancePath:instancePath+"/from_y",schemaPath:"contract#/$defs/DragDropRequest/properties/from_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.to_x !== undefined){
let data2 = data.to_x;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/to_x",schemaPath:"contract#/$defs/DragDropRequest/properties/to_x/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.to_y !== undefined){
let data3 = data.to_y;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err7 = {instancePath:instancePath+"/to_y",schemaPath:"contract#/$defs/DragDropRequest/properties/to_y/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/DragDropRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate103.errors = vErrors;
return errors === 0;
}
validate103.evaluated = {"props":{"from_x":true,"from_y":true,"to_x":true,"to_y":true},"dynamicProps":false,"dynamicItems":false};

const findElementBody = validate104;
const schema178 = {"$id":"findElementBody","$ref":"contract#/$defs/FindElementRequest"};
const schema179 = {"type":"object","required":["text"],"properties":{"text":{"type":"string","minLength":1,"maxLength":1000}}};

function validate104(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate104.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.text === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/FindElementRequest/required",keyword:"required",params:{missingProperty: "text"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.text !== undefined){
let data0 = data.text;
if(typeof data0 === "string"){
if(func1(data0) > 1000){
const err1 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/FindElementRequest/properties/text/maxLength",keyword:"maxLength",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/FindElementRequest/properties/text/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/FindElementRequest/properties/text/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/FindElementRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate104.errors = vErrors;
return errors === 0;
}
validate104.evaluated = {"props":{"text":true},"dynamicProps":false,"dynamicItems":false};

const waitForElementBody = validate105;
const schema180 = {"$id":"waitForElementBody","$ref":"contract#/$defs/WaitForElementRequest"};
const schema181 = {"type":"object","required":["text"],"properties":{"text":{"type":"string","minLength":1,"maxLength":1000},"timeout":{"default":30,"type":"integer","minimum":1,"maximum":300}}};

function validate105(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate105.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.timeout === undefined){
data.timeout = 30;
}
if(data.text === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/WaitForElementRequest/required",keyword:"required",params:{missingProperty: "text"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.text !== undefined){
let data0 = data.text;
if(typeof data0 === "string"){
if(func1(data0) > 1000){
const err1 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/WaitForElementRequest/properties/text/maxLength",keyword:"maxLength",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/WaitForElementRequest/properties/text/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/WaitForElementRequest/properties/text/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
let data1 = data.timeout;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err4 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/WaitForElementRequest/properties/timeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 300 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/WaitForElementRequest/properties/timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 300}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data1 < 1 || isNaN(data1)){
const err6 = {instancePath:instancePath+"/timeout",schemaPath:"contract#/$defs/WaitForElementRequest/properties/timeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"contract#/$defs/WaitForElementRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate105.errors = vErrors;
return errors === 0;
}
validate105.evaluated = {"props":{"text":true,"timeout":true},"dynamicProps":false,"dynamicItems":false};

const getElementBoundsBody = validate106;
const schema182 = {"$id":"getElementBoundsBody","$ref":"contract#/$defs/FindElementRequest"};

function validate106(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate106.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.text === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/FindElementRequest/required",keyword:"required",params:{missingProperty: "text"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.text !== undefined){
let data0 = data.text;
if(typeof data0 === "string"){
if(func1(data0) > 1000){
const err1 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/FindElementRequest/properties/text/maxLength",keyword:"maxLength",params:{limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/FindElementRequest/properties/text/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/text",schemaPath:"contract#/$defs/FindElementRequest/properties/text/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/FindElementRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate106.errors = vErrors;
return errors === 0;
}
validate106.evaluated = {"props":{"text":true},"dynamicProps":false,"dynamicItems":false};

const captureWindowQuery = validate107;
const schema184 = {"$id":"captureWindowQuery","type":"object","properties":{"window_id":{"type":"string","minLength":1,"maxLength":200}},"required":["window_id"]};

function validate107(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate107.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.window_id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "window_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.window_id !== undefined){
let data0 = data.window_id;
if(typeof data0 === "string"){
if(func1(data0) > 200){
const err1 = {instancePath:instancePath+"/window_id",schemaPath:"#/properties/window_id/maxLength",keyword:"maxLength",params:{limit: 200}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func1(data0) < 1){
const err2 = {instancePath:instancePath+"/window_id",schemaPath:"#/properties/window_id/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/window_id",schemaPath:"#/properties/window_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate107.errors = vErrors;
return errors === 0;
}
validate107.evaluated = {"props":{"window_id":true},"dynamicProps":false,"dynamicItems":false};

const getExecutionOutputQuery = validate108;
const schema185 = {"$id":"getExecutionOutputQuery","type":"object","properties":{"stdout_offset":{"default":0,"type":"integer","minimum":0,"maximum":9007199254740991},"stderr_offset":{"default":0,"type":"integer","minimum":0,"maximum":9007199254740991},"limit":{"default":65536,"type":"integer","minimum":16,"maximum":1048576},"wait":{"default":0,"type":"integer","minimum":0,"maximum":60},"values":{"default":false,"type":"boolean"}},"required":[]};

function validate108(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate108.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.stdout_offset === undefined){
data.stdout_offset = 0;
}
if(data.stderr_offset === undefined){
data.stderr_offset = 0;
}
if(data.limit === undefined){
data.limit = 65536;
}
if(data.wait === undefined){
data.wait = 0;
}
if(data.values === undefined){
data.values = false;
}
let data0 = data.stdout_offset;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/stdout_offset",schemaPath:"#/properties/stdout_offset/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/stdout_offset",schemaPath:"#/properties/stdout_offset/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0 < 0 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/stdout_offset",schemaPath:"#/properties/stdout_offset/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
let data1 = data.stderr_offset;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err3 = {instancePath:instancePath+"/stderr_offset",schemaPath:"#/properties/stderr_offset/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/stderr_offset",schemaPath:"#/properties/stderr_offset/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1 < 0 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/stderr_offset",schemaPath:"#/properties/stderr_offset/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
let data2 = data.limit;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err6 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 1048576 || isNaN(data2)){
const err7 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1048576}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data2 < 16 || isNaN(data2)){
const err8 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 16}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
let data3 = data.wait;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err9 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 60 || isNaN(data3)){
const err10 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/maximum",keyword:"maximum",params:{comparison: "<=", limit: 60}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err11 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(typeof data.values !== "boolean"){
const err12 = {instancePath:instancePath+"/values",schemaPath:"#/properties/values/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate108.errors = vErrors;
return errors === 0;
}
validate108.evaluated = {"props":{"stdout_offset":true,"stderr_offset":true,"limit":true,"wait":true,"values":true},"dynamicProps":false,"dynamicItems":false};

export const agentContract = {
  name: "agent",
  operations: [
    { operationId: "getBanner", method: "GET", path: "/", authenticated: false, status: 200 },
    { operationId: "ping", method: "GET", path: "/ping", authenticated: false, status: 200 },
    { operationId: "getAgentHealth", method: "GET", path: "/health", authenticated: false, status: 200 },
    { operationId: "getInfo", method: "GET", path: "/info", authenticated: false, status: 200 },
    { operationId: "getSystem", method: "GET", path: "/system", authenticated: false, status: 200 },
    { operationId: "executeCode", method: "POST", path: "/execute", authenticated: true, status: 200, body: { validate: executeCodeBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeRich", method: "POST", path: "/execute/rich", authenticated: true, status: 200, body: { validate: executeRichBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeIpython", method: "POST", path: "/execute/ipython", authenticated: true, status: 200, body: { validate: executeIpythonBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeBackground", method: "POST", path: "/execute/background", authenticated: true, status: 200, body: { validate: executeBackgroundBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "executeAsync", method: "POST", path: "/execute/async", authenticated: true, status: 200, body: { validate: executeAsyncBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "listExecutions", method: "GET", path: "/execute/processes", authenticated: true, status: 200 },
    { operationId: "killExecution", method: "DELETE", path: "/execute/kill", authenticated: true, status: 200, query: { validate: killExecutionQuery, types: { "process_id": "string" }, units: {} } },
    { operationId: "streamExecution", method: "GET", path: "/execute/stream", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: frameExecuteStreamRequest, units: { "timeout": "seconds" } }, "cancel": { validate: frameCancel, units: {} } } },
    { operationId: "streamCode", method: "GET", path: "/stream", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: frameExecuteStreamRequest, units: { "timeout": "seconds" } }, "cancel": { validate: frameCancel, units: {} } } },
    { operationId: "streamIpython", method: "GET", path: "/stream/ipython", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: frameExecuteStreamRequest, units: { "timeout": "seconds" } }, "cancel": { validate: frameCancel, units: {} } } },
    { operationId: "runCommand", method: "POST", path: "/commands/run", authenticated: true, status: 200, body: { validate: runCommandBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "runCommandBackground", method: "POST", path: "/commands/background", authenticated: true, status: 200, body: { validate: runCommandBackgroundBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "streamCommand", method: "GET", path: "/commands/stream", authenticated: true, status: 101, upgrade: true, frames: { "execute": { validate: frameCommandStreamRequest, units: { "timeout": "seconds" } }, "command": { validate: frameCommandStreamRequest, units: { "timeout": "seconds" } }, "stdin": { validate: frameStdin, units: {} }, "stdin_close": { validate: frameStdinClose, units: {} }, "signal": { validate: frameSignal, units: {} }, "cancel": { validate: frameCancel, units: {} } } },
    { operationId: "readFile", method: "GET", path: "/files/read", authenticated: true, status: 200, query: { validate: readFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "writeFile", method: "POST", path: "/files/write", authenticated: true, status: 200, body: { validate: writeFileBody, required: true, units: {} } },
    { operationId: "listFiles", method: "GET", path: "/files/list", authenticated: true, status: 200, query: { validate: listFilesQuery, types: { "path": "string" }, units: {} } },
    { operationId: "fileExists", method: "GET", path: "/files/exists", authenticated: true, status: 200, query: { validate: fileExistsQuery, types: { "path": "string" }, units: {} } },
    { operationId: "removeFile", method: "DELETE", path: "/files/remove", authenticated: true, status: 200, query: { validate: removeFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "makeDirectory", method: "POST", path: "/files/mkdir", authenticated: true, status: 200, body: { validate: makeDirectoryBody, required: true, units: {} } },
    { operationId: "renameFile", method: "POST", path: "/files/rename", authenticated: true, status: 200, body: { validate: renameFileBody, required: true, units: {} } },
    { operationId: "statFile", method: "GET", path: "/files/stat", authenticated: true, status: 200, query: { validate: statFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "uploadFile", method: "POST", path: "/files/upload", authenticated: true, status: 200, query: { validate: uploadFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "downloadFile", method: "GET", path: "/files/download", authenticated: true, status: 200, query: { validate: downloadFileQuery, types: { "path": "string" }, units: {} } },
    { operationId: "watchFiles", method: "GET", path: "/files/watch", authenticated: true, status: 101, upgrade: true, frames: { "watch": { validate: frameWatchRequest, units: {} }, "unwatch": { validate: frameUnwatchRequest, units: {} } } },
    { operationId: "getEnvironment", method: "GET", path: "/env", authenticated: true, status: 200 },
    { operationId: "replaceEnvironment", method: "PUT", path: "/env", authenticated: true, status: 200, body: { validate: replaceEnvironmentBody, required: true, units: {} } },
    { operationId: "clearEnvironment", method: "DELETE", path: "/env", authenticated: true, status: 200 },
    { operationId: "mergeEnvironment", method: "PATCH", path: "/env", authenticated: true, status: 200, body: { validate: mergeEnvironmentBody, required: true, units: {} } },
    { operationId: "listSystemProcesses", method: "GET", path: "/processes", authenticated: true, status: 200 },
    { operationId: "getMetrics", method: "GET", path: "/metrics", authenticated: true, status: 200 },
    { operationId: "getMetricsSnapshot", method: "GET", path: "/metrics/snapshot", authenticated: true, status: 200 },
    { operationId: "getPrometheusMetrics", method: "GET", path: "/metrics/prometheus", authenticated: true, status: 200 },
    { operationId: "getCacheStats", method: "GET", path: "/cache/stats", authenticated: true, status: 200 },
    { operationId: "clearCache", method: "POST", path: "/cache/clear", authenticated: true, status: 200 },
    { operationId: "listJupyterSessions", method: "GET", path: "/jupyter/sessions", authenticated: true, status: 200 },
    { operationId: "openTerminal", method: "GET", path: "/terminal", authenticated: true, status: 101, upgrade: true, frames: { "input": { validate: frameTerminalInput, units: {} }, "resize": { validate: frameTerminalResize, units: {} } }, query: { validate: openTerminalQuery, types: { "cols": "integer", "rows": "integer", "shell": "string" }, units: {} } },
    { operationId: "startVncByGet", method: "GET", path: "/desktop/vnc/start", authenticated: true, status: 200 },
    { operationId: "startVnc", method: "POST", path: "/desktop/vnc/start", authenticated: true, status: 200, body: { validate: startVncBody, required: false, units: {} } },
    { operationId: "stopVncByGet", method: "GET", path: "/desktop/vnc/stop", authenticated: true, status: 200 },
    { operationId: "stopVnc", method: "POST", path: "/desktop/vnc/stop", authenticated: true, status: 200 },
    { operationId: "getVncStatus", method: "GET", path: "/desktop/vnc/status", authenticated: true, status: 200 },
    { operationId: "getVncInfo", method: "GET", path: "/desktop/vnc/info", authenticated: true, status: 200 },
    { operationId: "clickMouse", method: "POST", path: "/desktop/mouse/click", authenticated: true, status: 200, body: { validate: clickMouseBody, required: true, units: {} } },
    { operationId: "moveMouse", method: "POST", path: "/desktop/mouse/move", authenticated: true, status: 200, body: { validate: moveMouseBody, required: true, units: {} } },
    { operationId: "dragMouse", method: "POST", path: "/desktop/mouse/drag", authenticated: true, status: 200, body: { validate: dragMouseBody, required: true, units: {} } },
    { operationId: "scrollMouse", method: "POST", path: "/desktop/mouse/scroll", authenticated: true, status: 200, body: { validate: scrollMouseBody, required: true, units: {} } },
    { operationId: "typeText", method: "POST", path: "/desktop/keyboard/type", authenticated: true, status: 200, body: { validate: typeTextBody, required: true, units: {} } },
    { operationId: "pressKey", method: "POST", path: "/desktop/keyboard/press", authenticated: true, status: 200, body: { validate: pressKeyBody, required: true, units: {} } },
    { operationId: "pressKeyCombination", method: "POST", path: "/desktop/keyboard/combination", authenticated: true, status: 200, body: { validate: pressKeyCombinationBody, required: true, units: {} } },
    { operationId: "getClipboard", method: "GET", path: "/desktop/clipboard/get", authenticated: true, status: 200 },
    { operationId: "setClipboard", method: "POST", path: "/desktop/clipboard/set", authenticated: true, status: 200, body: { validate: setClipboardBody, required: true, units: {} } },
    { operationId: "getClipboardHistory", method: "GET", path: "/desktop/clipboard/history", authenticated: true, status: 200 },
    { operationId: "takeScreenshotByGet", method: "GET", path: "/desktop/screenshot", authenticated: true, status: 200 },
    { operationId: "takeScreenshot", method: "POST", path: "/desktop/screenshot", authenticated: true, status: 200 },
    { operationId: "takeRegionScreenshot", method: "POST", path: "/desktop/screenshot/region", authenticated: true, status: 200, body: { validate: takeRegionScreenshotBody, required: true, units: {} } },
    { operationId: "startRecording", method: "POST", path: "/desktop/recording/start", authenticated: true, status: 200, body: { validate: startRecordingBody, required: false, units: {} } },
    { operationId: "stopRecording", method: "POST", path: "/desktop/recording/stop", authenticated: true, status: 200, body: { validate: stopRecordingBody, required: false, units: {} } },
    { operationId: "getRecordingStatus", method: "GET", path: "/desktop/recording/status", authenticated: true, status: 200, query: { validate: getRecordingStatusQuery, types: { "id": "string" }, units: {} } },
    { operationId: "downloadRecording", method: "GET", path: "/desktop/recording/download", authenticated: true, status: 200, query: { validate: downloadRecordingQuery, types: { "id": "string" }, units: {} } },
    { operationId: "listWindows", method: "GET", path: "/desktop/windows/list", authenticated: true, status: 200 },
    { operationId: "listWindowsShort", method: "GET", path: "/desktop/windows", authenticated: true, status: 200 },
    { operationId: "focusWindow", method: "POST", path: "/desktop/windows/focus", authenticated: true, status: 200, body: { validate: focusWindowBody, required: true, units: {} } },
    { operationId: "closeWindow", method: "POST", path: "/desktop/windows/close", authenticated: true, status: 200, body: { validate: closeWindowBody, required: true, units: {} } },
    { operationId: "resizeWindow", method: "POST", path: "/desktop/windows/resize", authenticated: true, status: 200, body: { validate: resizeWindowBody, required: true, units: {} } },
    { operationId: "minimizeWindow", method: "POST", path: "/desktop/windows/minimize", authenticated: true, status: 200, body: { validate: minimizeWindowBody, required: true, units: {} } },
    { operationId: "getDisplay", method: "GET", path: "/desktop/display/current", authenticated: true, status: 200 },
    { operationId: "getDisplayInfo", method: "GET", path: "/desktop/display/info", authenticated: true, status: 200 },
    { operationId: "getDisplayShort", method: "GET", path: "/desktop/display", authenticated: true, status: 200 },
    { operationId: "listResolutions", method: "GET", path: "/desktop/display/available", authenticated: true, status: 200 },
    { operationId: "listResolutionsAlias", method: "GET", path: "/desktop/display/resolutions", authenticated: true, status: 200 },
    { operationId: "setResolution", method: "POST", path: "/desktop/display/set", authenticated: true, status: 200, body: { validate: setResolutionBody, required: true, units: {} } },
    { operationId: "setResolutionAlias", method: "POST", path: "/desktop/display/resolution", authenticated: true, status: 200, body: { validate: setResolutionAliasBody, required: true, units: {} } },
    { operationId: "recogniseText", method: "POST", path: "/desktop/x11/ocr", authenticated: true, status: 200, body: { validate: recogniseTextBody, required: true, units: {} } },
    { operationId: "pressHotkey", method: "POST", path: "/desktop/x11/hotkey", authenticated: true, status: 200, body: { validate: pressHotkeyBody, required: true, units: {} } },
    { operationId: "dragAndDrop", method: "POST", path: "/desktop/x11/drag-drop", authenticated: true, status: 200, body: { validate: dragAndDropBody, required: true, units: {} } },
    { operationId: "dragAndDropAlias", method: "POST", path: "/desktop/x11/drag_drop", authenticated: true, status: 200, body: { validate: dragAndDropAliasBody, required: true, units: {} } },
    { operationId: "findElement", method: "POST", path: "/desktop/x11/find_element", authenticated: true, status: 200, body: { validate: findElementBody, required: true, units: {} } },
    { operationId: "waitForElement", method: "POST", path: "/desktop/x11/wait_for", authenticated: true, status: 200, body: { validate: waitForElementBody, required: true, units: { "timeout": "seconds" } } },
    { operationId: "getElementBounds", method: "POST", path: "/desktop/x11/get_bounds", authenticated: true, status: 200, body: { validate: getElementBoundsBody, required: true, units: {} } },
    { operationId: "captureWindow", method: "GET", path: "/desktop/x11/capture_window", authenticated: true, status: 200, query: { validate: captureWindowQuery, types: { "window_id": "string" }, units: {} } },
    { operationId: "getDesktopLogs", method: "GET", path: "/desktop/debug/logs", authenticated: true, status: 200 },
    { operationId: "listDesktopProcesses", method: "GET", path: "/desktop/debug/processes", authenticated: true, status: 200 },
    { operationId: "uploadUpdate", method: "POST", path: "/update/upload", authenticated: true, status: 200 },
    { operationId: "applyUpdate", method: "POST", path: "/update/apply", authenticated: true, status: 200 },
    { operationId: "restartAgent", method: "POST", path: "/update/restart", authenticated: true, status: 200 },
    { operationId: "listUpdateBackups", method: "GET", path: "/update/backups", authenticated: true, status: 200 },
    { operationId: "getExecutionOutput", method: "GET", path: "/execute/processes/{process_id}/output", authenticated: true, status: 200, query: { validate: getExecutionOutputQuery, types: { "stdout_offset": "integer", "stderr_offset": "integer", "limit": "integer", "wait": "integer", "values": "boolean" }, units: {} } },
    { operationId: "killExecutionById", method: "POST", path: "/execute/kill/{process_id}", authenticated: true, status: 200 },
    { operationId: "killProcess", method: "POST", path: "/processes/{process_id}/kill", authenticated: true, status: 200 },
    { operationId: "deleteEnvironmentVariable", method: "DELETE", path: "/env/{key}", authenticated: true, status: 200 },
    { operationId: "downloadRecordingById", method: "GET", path: "/desktop/recording/{recording_id}/download", authenticated: true, status: 200 },
  ],
};
